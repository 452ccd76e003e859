"""The page of a learned rule."""

from nsr.learn.page.render import write_page as write_page
