"""Exchange between devices and a server: parameters, reports, and the collector of reports."""
