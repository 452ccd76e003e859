import subprocess
import sys


def test_the_layers_do_without_jaxtyping():
    code = (
        "import sys; sys.modules['jaxtyping'] = None\n"
        "import torch, nsr\n"
        "assert nsr.NSR(2)(torch.zeros(3, 2)).shape == (3, 2)\n"
        "assert torch.Tensor in nsr.NSR.forward.__annotations__['x'].__args__\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
