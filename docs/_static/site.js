// What the theme leaves out for keyboards and screen readers, and numbers that stay on one line.
for (const caption of document.querySelectorAll("p.caption[role=heading]")) caption.setAttribute("aria-level", "2");
document.querySelector("aside.sidebar-drawer")?.setAttribute("aria-label", "Pages");
document.querySelector("aside.toc-drawer")?.setAttribute("aria-label", "On this page");

function reachable() {
  for (const box of document.querySelectorAll("article pre, .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

for (const cell of document.querySelectorAll("td.text-right, td.text-right p")) {
  if (cell.childElementCount) continue;
  cell.textContent = cell.textContent
    .replace(/ (of|±) /g, "\u00a0$1\u00a0")
    .replace(/\([^)]*\)/g, (inside) => inside.replaceAll(" ", "\u00a0"));
}
addEventListener("resize", reachable);
reachable();
