"""Reading tables: a sample to learn a rule from, and all rows to verify it on."""

from nsr.learn.tables.cells import plural as plural
from nsr.learn.tables.prepare import Prepared as Prepared
from nsr.learn.tables.prepare import prepare as prepare
from nsr.learn.tables.table import SAMPLE as SAMPLE
from nsr.learn.tables.table import Table as Table
from nsr.learn.tables.table import chunks as chunks
from nsr.learn.tables.table import read as read
