"""The page of a learned rule."""

from nsr.learn.page.page import write_page as write_page
