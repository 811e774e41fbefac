"""State of the service: database of users, receipts, questions and dashboards; open data sets."""
