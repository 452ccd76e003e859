"""``nsr profile``: what always holds in a table, ranked by how surprising it is. ``find`` is the place to start."""

from nsr.learn.profile.find import profile as profile
from nsr.learn.profile.statements import Candidate as Candidate
from nsr.learn.profile.statements import Family as Family
from nsr.learn.profile.statements import Profile as Profile
from nsr.learn.profile.statements import Statement as Statement
