"""Self-contained HTML files: the template that they share, charts as SVG, and charts that the browser draws."""
