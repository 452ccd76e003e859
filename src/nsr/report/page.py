"""The page: one self-contained HTML file that is a function of records, and the same charts as pictures."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import altair as alt
import jinja2
import vl_convert

from nsr.experiments import EXPERIMENTS
from nsr.report.charts import CHARTS, status_bit_charts
from nsr.report.sections import section
from nsr.report.summaries import summarise
from nsr.sweep.plan import Record

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def write_page(file: Path, records: Mapping[str, list[Record]]) -> None:
    """Write the page. What has no records is shown as missing."""
    sections = []
    for name, experiment in EXPERIMENTS.items():
        summaries = summarise(experiment, records.get(name, []))
        charts = [_embedded(*chart) for chart in CHARTS[name](experiment, summaries)]
        sections.append(section(experiment, summaries) | {"charts": charts})
    environments = {record.environment for some in records.values() for record in some}
    template = jinja2.Environment(
        loader=jinja2.PackageLoader("nsr.report", "."), autoescape=True, undefined=jinja2.StrictUndefined
    ).get_template("page.html.j2")
    script = vl_convert.javascript_bundle(None, VEGA_LITE)  # type: ignore[arg-type]
    text = template.render(
        sections=sections,
        bits=[_embedded(*chart) for chart in status_bit_charts()],
        environments=[json.loads(environment) for environment in sorted(environments)],
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        script=script,
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.part")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)


def write_figures(folder: Path, records: Mapping[str, list[Record]]) -> int:
    """Write every chart as SVG and PNG; how many charts there were."""
    folder.mkdir(parents=True, exist_ok=True)
    charts = list(status_bit_charts())
    for name, experiment in EXPERIMENTS.items():
        charts += CHARTS[name](experiment, summarise(experiment, records.get(name, [])))
    for name, title, chart in charts:
        specification = chart.properties(width=420, title=title).to_dict()
        (folder / f"{name}.svg").write_text(vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE))
        (folder / f"{name}.png").write_bytes(vl_convert.vegalite_to_png(specification, vl_version=VEGA_LITE, scale=2))
    return len(charts)


def _embedded(name: str, title: str, chart: Any) -> dict[str, Any]:
    return {"name": name, "title": title, "specification": chart.to_dict()}
