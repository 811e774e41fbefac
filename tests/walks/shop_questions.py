"""Forty questions of an analyst of a shop over three tables, written down before the first was asked."""

from __future__ import annotations

QUESTIONS = {
    # Funnels.
    "funnel of people": """
        SELECT COUNT(DISTINCT CASE WHEN kind = 'visit' THEN user_id END) AS visited,
               COUNT(DISTINCT CASE WHEN kind = 'cart' THEN user_id END) AS carted,
               COUNT(DISTINCT CASE WHEN kind = 'buy' THEN user_id END) AS bought
        FROM events""",
    "funnel by country": """
        SELECT u.country, COUNT(DISTINCT e.user_id) FILTER (WHERE e.kind = 'visit') AS visited,
               COUNT(DISTINCT e.user_id) FILTER (WHERE e.kind = 'buy') AS bought
        FROM events e JOIN users u ON e.user_id = u.user_id GROUP BY u.country""",
    "conversion": """
        SELECT device, 1.0 * COUNT(DISTINCT CASE WHEN kind = 'buy' THEN user_id END)
               / COUNT(DISTINCT CASE WHEN kind = 'visit' THEN user_id END) AS conversion
        FROM events GROUP BY device""",
    "carts without a purchase": """
        SELECT COUNT(DISTINCT user_id) AS left_behind FROM events
        WHERE kind = 'cart' AND user_id NOT IN (SELECT user_id FROM orders)""",
    "ordered funnel": """
        WITH firsts AS (
          SELECT user_id, MIN(CASE WHEN kind = 'visit' THEN day END) AS visit,
                 MIN(CASE WHEN kind = 'buy' THEN day END) AS buy
          FROM events GROUP BY user_id)
        SELECT COUNT(*) AS bought_after_visit FROM firsts WHERE buy >= visit""",
    # Cohorts.
    "cohorts by sign-up": """
        SELECT DATE_TRUNC('month', joined) AS cohort, COUNT(*) AS people FROM users GROUP BY cohort""",
    "cohorts by first order": """
        WITH first_orders AS (SELECT user_id, MIN(day) AS first FROM orders GROUP BY user_id)
        SELECT DATE_TRUNC('month', first) AS cohort, COUNT(*) AS buyers FROM first_orders GROUP BY cohort""",
    "retention by month": """
        SELECT DATE_TRUNC('month', u.joined) AS cohort,
               DATE_DIFF('month', u.joined, o.day) AS months_later,
               COUNT(DISTINCT o.user_id) AS active
        FROM orders o JOIN users u ON o.user_id = u.user_id
        WHERE o.day >= u.joined GROUP BY cohort, months_later""",
    "money of a cohort": """
        SELECT DATE_TRUNC('quarter', u.joined) AS cohort, SUM(o.amount) AS revenue
        FROM orders o JOIN users u ON o.user_id = u.user_id GROUP BY cohort""",
    "days to the first order": """
        SELECT AVG(f.first - u.joined) AS days FROM users u
        JOIN (SELECT user_id, MIN(day) AS first FROM orders GROUP BY user_id) f ON f.user_id = u.user_id
        WHERE f.first >= u.joined""",
    # Shares.
    "share of revenue by category": """
        SELECT category, 100 * SUM(amount) / SUM(SUM(amount)) OVER () AS percent
        FROM orders GROUP BY category""",
    "share within a channel": """
        SELECT channel, category, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY channel) AS share
        FROM orders GROUP BY channel, category""",
    "share of all by a sub-query": """
        SELECT category, 1.0 * COUNT(*) / (SELECT COUNT(*) FROM orders) AS share
        FROM orders GROUP BY category""",
    "share of people who ordered": """
        SELECT u.plan, AVG(CASE WHEN o.user_id IS NOT NULL THEN 1.0 ELSE 0 END) AS ordering
        FROM users u LEFT JOIN (SELECT DISTINCT user_id FROM orders) o ON u.user_id = o.user_id
        GROUP BY u.plan""",
    "rate of returns": """
        SELECT category, AVG(CASE WHEN returned THEN 1 ELSE 0 END) AS rate FROM orders GROUP BY category""",
    # Week over week.
    "orders by week": """
        SELECT DATE_TRUNC('week', day) AS week, COUNT(*) AS n FROM orders GROUP BY week ORDER BY week""",
    "change from the week before": """
        SELECT DATE_TRUNC('week', day) AS week, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY DATE_TRUNC('week', day)) AS change
        FROM orders GROUP BY week""",
    "growth in percent": """
        WITH weekly AS (SELECT DATE_TRUNC('week', day) AS week, SUM(amount) AS revenue FROM orders GROUP BY 1)
        SELECT week, 100.0 * (revenue - LAG(revenue) OVER (ORDER BY week)) / LAG(revenue) OVER (ORDER BY week) AS growth
        FROM weekly""",
    "same month of two years": """
        SELECT MONTH(day) AS month, COUNT(*) FILTER (WHERE YEAR(day) = 2024) AS before,
               COUNT(*) FILTER (WHERE YEAR(day) = 2025) AS now
        FROM orders GROUP BY month""",
    "weekday and hour": """
        SELECT EXTRACT(ISODOW FROM seen) AS weekday, EXTRACT(HOUR FROM seen) AS hour, COUNT(*) AS n
        FROM events GROUP BY weekday, hour""",
    # Moving averages and running totals.
    "moving average of four weeks": """
        SELECT week, AVG(n) OVER (ORDER BY week ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS smooth
        FROM (SELECT DATE_TRUNC('week', day) AS week, COUNT(*) AS n FROM orders GROUP BY 1) AS w""",
    "running revenue": """
        SELECT DATE_TRUNC('month', day) AS month, SUM(SUM(amount)) OVER (ORDER BY DATE_TRUNC('month', day)) AS so_far
        FROM orders GROUP BY month""",
    "moving average by channel": """
        SELECT channel, month, AVG(revenue) OVER (PARTITION BY channel ORDER BY month
               ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS smooth
        FROM (SELECT channel, DATE_TRUNC('month', day) AS month, SUM(amount) AS revenue
              FROM orders GROUP BY channel, month) AS m""",
    # Top k.
    "three best categories": """
        SELECT category, SUM(amount) AS revenue FROM orders GROUP BY category ORDER BY revenue DESC LIMIT 3""",
    "two best categories of each country": """
        SELECT * FROM (
          SELECT u.country, o.category, COUNT(*) AS n,
                 ROW_NUMBER() OVER (PARTITION BY u.country ORDER BY COUNT(*) DESC) AS place
          FROM orders o JOIN users u ON o.user_id = u.user_id GROUP BY u.country, o.category) AS t
        WHERE place <= 2""",
    "most frequent category": "SELECT MODE(category) AS favourite FROM orders",
    "categories with at least 500 orders": """
        SELECT category, COUNT(*) AS n FROM orders GROUP BY category HAVING COUNT(*) >= 500""",
    "rank of countries": """
        SELECT country, COUNT(*) AS people, RANK() OVER (ORDER BY COUNT(*) DESC) AS place
        FROM users GROUP BY country""",
    # Percentiles.
    "median basket": "SELECT MEDIAN(amount) AS median FROM orders",
    "percentiles by channel": """
        SELECT channel, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount) AS p50,
               PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY amount) AS p90
        FROM orders GROUP BY channel""",
    "quartiles of visits": """
        SELECT QUANTILE_CONT(seconds, 0.25) AS q1, QUANTILE_CONT(seconds, 0.75) AS q3
        FROM events WHERE kind = 'visit'""",
    "median spending of a person": """
        SELECT MEDIAN(total) AS median FROM (SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id) t""",
    "histogram of baskets": """
        SELECT FLOOR(amount / 50) * 50 AS basket, COUNT(*) AS n FROM orders GROUP BY basket ORDER BY basket""",
    # Distinct people.
    "active people by month": """
        SELECT DATE_TRUNC('month', day) AS month, COUNT(DISTINCT user_id) AS active FROM events GROUP BY month""",
    "people with two orders or more": """
        SELECT COUNT(*) AS returning FROM (
          SELECT user_id, COUNT(*) AS n FROM orders GROUP BY user_id) t WHERE n >= 2""",
    "people by number of orders": """
        SELECT n, COUNT(*) AS people FROM (
          SELECT user_id, COUNT(*) AS n FROM orders GROUP BY user_id) t GROUP BY n""",
    "orders of a person on average": """
        SELECT 1.0 * COUNT(*) / COUNT(DISTINCT user_id) AS orders_per_person FROM orders""",
    "people of two channels": """
        SELECT COUNT(DISTINCT a.user_id) AS both FROM orders a
        WHERE a.channel = 'web' AND EXISTS (
          SELECT 1 FROM orders b WHERE b.user_id = a.user_id AND b.channel = 'app')""",
    "people who never ordered": """
        SELECT u.country, COUNT(*) AS people FROM users u
        LEFT JOIN orders o ON u.user_id = o.user_id WHERE o.user_id IS NULL GROUP BY u.country""",
    "stickiness": """
        SELECT AVG(days) AS active_days FROM (
          SELECT user_id, COUNT(DISTINCT day) AS days FROM events GROUP BY user_id) t""",
}
