import torch

from nsr.sweep import executors


def test_workers_have_one_thread():
    with executors.local(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == 1
