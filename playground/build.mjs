// Bundles src/ into one HTML file that makes no request, with a hash of the sources in it.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const LARGEST = 150_000;
const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "..", "src", "nsr", "play", "playground.html");

function sources() {
  const inside = readdirSync(join(here, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(here.length + 1)
        .replaceAll("\\", "/"),
    );
  return ["build.mjs", "package.json", "tsconfig.json", ...inside].sort();
}

// tests/playground/test_build.py computes the same hash.
function hash() {
  const digest = createHash("sha256");
  for (const name of sources()) {
    const content = readFileSync(join(here, name));
    digest.update(`${name}\0${content.length}\0`).update(content);
  }
  return digest.digest("hex");
}

const script = await build({
  entryPoints: [join(here, "src", "main.ts")],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
});
const style = await build({ entryPoints: [join(here, "src", "style.css")], minify: true, write: false });
const parts = {
  HASH: hash(),
  STYLE: style.outputFiles[0].text.trim(),
  SCRIPT: script.outputFiles[0].text.trim().replaceAll("</script", "<\\/script"),
};
const page = readFileSync(join(here, "src", "page.html"), "utf8").replace(/@@(\w+)@@/g, (_, name) => parts[name]);
const size = Buffer.byteLength(page);
if (size > LARGEST) throw new Error(`the page may have ${LARGEST} bytes, got ${size}`);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
console.log(`${out}: ${size} bytes`);
