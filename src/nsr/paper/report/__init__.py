"""The report: tables in the terminal, and one page with all tables and figures."""
