"""Charts of the page, as altair describes them: a file for each experiment."""

from nsr.paper.report.charts.bits import status_bit_charts as status_bit_charts
from nsr.paper.report.charts.comparisons import comparison_charts
from nsr.paper.report.charts.digits import digit_charts
from nsr.paper.report.charts.floats import float_charts
from nsr.paper.report.charts.piecewise import piecewise_charts
from nsr.paper.report.charts.recurrent import recurrent_charts
from nsr.paper.report.charts.redundancy import redundancy_charts
from nsr.paper.report.charts.shortest_paths import shortest_paths_charts

CHARTS = {
    "comparisons": comparison_charts,
    "floats": float_charts,
    "piecewise": piecewise_charts,
    "redundancy": redundancy_charts,
    "recurrent": recurrent_charts,
    "shortest_paths": shortest_paths_charts,
    "digits": digit_charts,
}
