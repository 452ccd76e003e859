"""The page: one self-contained HTML file that is a function of records, and the same charts as pictures."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import vl_convert

from nsr.files import write
from nsr.html import VEGA_LITE, embedded, write_html
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Record
from nsr.paper.report.charts import CHARTS, status_bit_charts
from nsr.paper.report.sections import section
from nsr.paper.summaries import summarise


def write_page(file: Path, records: Mapping[str, list[Record]]) -> None:
    """Write the page. What has no records is shown as missing."""
    sections = []
    for name, experiment in EXPERIMENTS.items():
        summaries = summarise(experiment, records.get(name, []))
        charts = [embedded(*chart) for chart in CHARTS[name](experiment, summaries)]
        sections.append(section(experiment, summaries) | {"charts": charts})
    environments = {record.environment for some in records.values() for record in some}
    write_html(
        file,
        "nsr.paper.report",
        "page.html.j2",
        sections=sections,
        bits=[embedded(*chart) for chart in status_bit_charts()],
        environments=[json.loads(environment) for environment in sorted(environments)],
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def write_figures(folder: Path, records: Mapping[str, list[Record]]) -> int:
    """Write every chart as SVG and PNG; how many charts there were."""
    charts = list(status_bit_charts())
    for name, experiment in EXPERIMENTS.items():
        charts += CHARTS[name](experiment, summarise(experiment, records.get(name, [])))
    for name, title, chart in charts:
        specification = chart.properties(width=420, title=title).to_dict()
        write(folder / f"{name}.svg", vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE))
        write(folder / f"{name}.png", vl_convert.vegalite_to_png(specification, vl_version=VEGA_LITE, scale=2))
    return len(charts)
