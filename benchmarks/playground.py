"""Frames per second of the playground while it trains on 400 rows, and what an epoch and a frame cost.

Needs Chromium. Run as ``python benchmarks/playground.py``.
"""

import shutil
from importlib.resources import files

from playwright.sync_api import sync_playwright

FRAMES = """
() => new Promise(done => {
  const at = [];
  requestAnimationFrame(function next(now) {
    at.push(now);
    if (at.length <= 300) requestAnimationFrame(next);
    else done(300_000 / (at[300] - at[0]));
  });
})
"""
EPOCHS = """
() => {
  nsr.pause();
  const time = (learner) => {
    const start = performance.now();
    for (let i = 0; i < 500; i++) learner.step("exact");
    return (performance.now() - start) / 500;
  };
  return [time(nsr.session.nsr), time(nsr.session.baseline)];
}
"""
WORK = """
() => {
  document.getElementById("play").click();
  const times = Array.from({length: 200}, () => nsr.frame()).sort((one, other) => one - other);
  return [times[100], times[190]];
}
"""


def main() -> None:
    """Print the figures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(f"file://{files('nsr') / 'play' / 'playground.html'}")
        for epochs in ("2", "20"):
            page.select_option("#speed", epochs)
            page.evaluate("document.getElementById('again').click()")
            print(f"{page.evaluate(FRAMES):.1f} frames/s with {epochs} epochs per frame, 400 rows, both models")
        register, mlp = page.evaluate(EPOCHS)
        print(f"{register:.3f} ms per epoch of the register, {mlp:.3f} ms of the MLP")
        median, most = page.evaluate(WORK)
        print(f"{median:.1f} ms of work per frame with 20 epochs, {most:.1f} ms in the 95th percentile")
        browser.close()


if __name__ == "__main__":
    main()
