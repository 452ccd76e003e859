"""Tables of a user, read and checked, so that a rule can be learned from some rows and verified on all of them."""

from nsr.learn.tables.prepare import Prepared as Prepared
from nsr.learn.tables.prepare import prepare as prepare
from nsr.learn.tables.table import SAMPLE as SAMPLE
from nsr.learn.tables.table import Table as Table
from nsr.learn.tables.table import chunks as chunks
from nsr.learn.tables.table import read as read
