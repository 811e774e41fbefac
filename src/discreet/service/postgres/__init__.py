"""PostgreSQL's wire protocol: psql, pandas, R and dashboards ask as they ask any database."""
