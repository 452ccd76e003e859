"""Reading tables with DuckDB: a sample to learn a rule from, and all rows to verify it on."""

from nsr.learn.tables.columns import Column as Column
from nsr.learn.tables.table import SAMPLE as SAMPLE
from nsr.learn.tables.table import Table as Table
from nsr.learn.tables.table import read as read
from nsr.learn.tables.text import plural as plural
