-- Statements in the forms that dashboards and BI tools send, 12 for each of five kinds of tool.
-- Charts of Superset: virtual data sets, row limits, filters, time grains
SELECT region AS region, COUNT(*) AS count FROM public.sales GROUP BY region ORDER BY count DESC LIMIT 10000;
SELECT DATE_TRUNC('month', day) AS day, SUM(amount) AS "SUM(amount)" FROM public.sales WHERE day >= TO_DATE('2024-01-01', 'YYYY-MM-DD') AND day < TO_DATE('2025-01-01', 'YYYY-MM-DD') GROUP BY DATE_TRUNC('month', day) ORDER BY "SUM(amount)" DESC LIMIT 50000;
SELECT region AS region FROM public.sales GROUP BY region LIMIT 10000;
SELECT DISTINCT product FROM public.sales LIMIT 1000;
SELECT COUNT(*) AS count FROM public.sales LIMIT 50000;
SELECT product AS product, AVG(amount) AS "AVG(amount)" FROM public.sales WHERE region IN ('N', 'S') GROUP BY product ORDER BY "AVG(amount)" DESC LIMIT 100;
SELECT region AS region, product AS product, SUM(amount) AS total FROM (SELECT * FROM sales) AS virtual_table GROUP BY region, product ORDER BY total DESC LIMIT 1000;
SELECT DATE_TRUNC('week', day) AS __timestamp, region AS region, COUNT(DISTINCT customer) AS customers FROM public.sales GROUP BY DATE_TRUNC('week', day), region ORDER BY customers DESC LIMIT 1000;
SELECT COUNT(*) AS count FROM public.sales WHERE day >= '2024-03-01' AND day < '2024-04-01' AND product = 'A' LIMIT 50000;
SELECT MIN(amount) AS min_1, MAX(amount) AS max_1 FROM public.sales LIMIT 50000;
SELECT SUM(CASE WHEN region = 'N' THEN amount ELSE 0 END) AS north, SUM(amount) AS everything FROM public.sales LIMIT 50000;
SELECT * FROM public.sales LIMIT 100;
-- Questions of Metabase: quoted names with schema and table, casts of dates
SELECT COUNT(*) AS "count" FROM "public"."sales";
SELECT "public"."sales"."region" AS "region", COUNT(*) AS "count" FROM "public"."sales" GROUP BY "public"."sales"."region" ORDER BY "public"."sales"."region" ASC;
SELECT DATE_TRUNC('month', "public"."sales"."day") AS "day", SUM("public"."sales"."amount") AS "sum" FROM "public"."sales" GROUP BY DATE_TRUNC('month', "public"."sales"."day") ORDER BY DATE_TRUNC('month', "public"."sales"."day") ASC;
SELECT AVG("public"."sales"."amount") AS "avg" FROM "public"."sales" WHERE "public"."sales"."product" = 'B';
SELECT "source"."region" AS "region", "source"."count" AS "count" FROM (SELECT "public"."sales"."region" AS "region", COUNT(*) AS "count" FROM "public"."sales" GROUP BY "public"."sales"."region") AS "source" WHERE "source"."count" > 100 LIMIT 1048575;
SELECT COUNT(DISTINCT "public"."sales"."customer") AS "count" FROM "public"."sales" WHERE "public"."sales"."day" >= DATE '2024-01-01' AND "public"."sales"."day" < DATE '2024-07-01';
SELECT FLOOR("public"."sales"."amount" / 100.0) * 100.0 AS "amount", COUNT(*) AS "count" FROM "public"."sales" GROUP BY FLOOR("public"."sales"."amount" / 100.0) * 100.0 ORDER BY 1 ASC;
SELECT "public"."sales"."product" AS "product", PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "public"."sales"."amount") AS "median" FROM "public"."sales" GROUP BY "public"."sales"."product";
SELECT STDDEV_POP("public"."sales"."amount") AS "stddev" FROM "public"."sales";
SELECT CAST(SUM(CASE WHEN "public"."sales"."amount" > 500 THEN 1 ELSE 0.0 END) AS FLOAT) / NULLIF(COUNT(*), 0) AS "share" FROM "public"."sales";
SELECT EXTRACT(MONTH FROM "public"."sales"."day") AS "month", COUNT(*) AS "count" FROM "public"."sales" GROUP BY EXTRACT(MONTH FROM "public"."sales"."day") ORDER BY 1;
SELECT "public"."sales"."day" AS "day", "public"."sales"."amount" AS "amount" FROM "public"."sales" LIMIT 2000;
-- Worksheets of Tableau and Power BI: 1 = 0 for types, TOP by LIMIT, grouping by position
SELECT * FROM "public"."sales" WHERE 1 = 0;
SELECT "sales"."region" AS "region", SUM("sales"."amount") AS "sum:amount:ok" FROM "public"."sales" "sales" GROUP BY 1;
SELECT "sales"."product" AS "product", SUM(1) AS "cnt:product:ok" FROM "public"."sales" "sales" GROUP BY 1 ORDER BY 2 DESC LIMIT 5;
SELECT SUM(1) AS "COL" FROM "public"."sales" "sales" HAVING COUNT(1) > 0;
SELECT MIN("sales"."day") AS "TEMP1", MAX("sales"."day") AS "TEMP2", COUNT(1) AS "TEMP3" FROM "public"."sales" "sales" HAVING COUNT(1) > 0;
SELECT CAST(EXTRACT(YEAR FROM "sales"."day") AS BIGINT) AS "yr:day:ok", AVG("sales"."amount") AS "avg:amount:ok" FROM "public"."sales" "sales" GROUP BY 1;
SELECT CASE WHEN "sales"."age" < 30 THEN 'young' WHEN "sales"."age" < 60 THEN 'middle' ELSE 'old' END AS "band", COUNT(*) AS "n" FROM "public"."sales" "sales" GROUP BY 1;
SELECT "t0"."region", SUM("t0"."amount") AS "a0" FROM "public"."sales" AS "t0" WHERE "t0"."age" BETWEEN 18 AND 65 GROUP BY "t0"."region" ORDER BY "t0"."region" LIMIT 1000001;
SELECT "t0"."product" FROM "public"."sales" AS "t0" GROUP BY "t0"."product" ORDER BY "t0"."product" LIMIT 101;
SELECT COUNT(DISTINCT "rows"."customer") AS "a0" FROM (SELECT "customer", "region" FROM "public"."sales") AS "rows" WHERE "rows"."region" = 'W';
SELECT "sales"."region" AS "region", COUNT(*) AS "n", SUM("sales"."amount") AS "s", AVG("sales"."amount") AS "m" FROM "public"."sales" "sales" WHERE NOT ("sales"."product" IN ('C')) GROUP BY 1;
SELECT "sales"."customer" AS "customer", SUM("sales"."amount") AS "sum" FROM "public"."sales" "sales" GROUP BY 1 ORDER BY 2 DESC LIMIT 10;
-- Panels of Grafana: time filters written out, series by name
SELECT day AS "time", COUNT(*) AS "value" FROM sales WHERE day BETWEEN '2024-06-01' AND '2024-06-30' GROUP BY day ORDER BY day;
SELECT DATE_TRUNC('day', day) AS "time", region AS metric, SUM(amount) AS "value" FROM sales WHERE day >= '2024-06-01' AND day <= '2024-06-07' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT AVG(amount) AS "value" FROM sales WHERE day BETWEEN '2024-01-01' AND '2024-12-31';
SELECT COUNT(*) FILTER (WHERE amount > 900) AS "large", COUNT(*) AS "all" FROM sales;
SELECT product AS metric, COUNT(*) AS "value" FROM sales GROUP BY product HAVING COUNT(*) > 10 ORDER BY 2 DESC;
SELECT region, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS "share" FROM sales GROUP BY region;
SELECT DATE_TRUNC('month', day) AS "time", SUM(SUM(amount)) OVER (ORDER BY DATE_TRUNC('month', day)) AS "running" FROM sales GROUP BY 1 ORDER BY 1;
SELECT region, RANK() OVER (ORDER BY COUNT(*) DESC) AS "place", COUNT(*) AS "n" FROM sales GROUP BY region;
SELECT COALESCE(SUM(amount), 0) AS "value" FROM sales WHERE product = 'A' AND region <> 'N';
SELECT PERCENTILE_CONT(0.95) WITHIN GROUP (ORDER BY amount) AS "p95" FROM sales;
SELECT CORR(age, amount) AS "r" FROM sales;
SELECT day AS "time", amount AS "value" FROM sales WHERE day = '2024-06-01' ORDER BY day;
-- Models of dbt and Looker, notebooks: WITH, sub-queries, CUBE, ratios
WITH by_region AS (SELECT region, SUM(amount) AS total FROM sales GROUP BY region) SELECT * FROM by_region ORDER BY total DESC LIMIT 3;
WITH s AS (SELECT region, product, amount FROM sales WHERE day >= '2024-01-01') SELECT product, AVG(amount) AS mean_amount FROM s GROUP BY product;
SELECT region, product, COUNT(*) AS n FROM sales GROUP BY CUBE (region, product);
SELECT region, product, SUM(amount) AS s FROM sales GROUP BY ROLLUP (region, product);
SELECT COUNT(DISTINCT CASE WHEN amount > 500 THEN customer END) AS big_customers, COUNT(DISTINCT customer) AS customers FROM sales;
SELECT region, SUM(amount) / COUNT(DISTINCT customer) AS per_customer FROM sales GROUP BY region;
SELECT COUNT(*) AS n FROM (SELECT customer, COUNT(*) AS orders FROM sales GROUP BY customer) AS c WHERE orders >= 3;
SELECT orders, COUNT(*) AS customers FROM (SELECT customer, COUNT(*) AS orders FROM sales GROUP BY customer) AS c GROUP BY orders;
SELECT COUNT(*) AS "sales.count", AVG(sales.age) AS "sales.average_age" FROM public.sales AS sales FETCH NEXT 500 ROWS ONLY;
SELECT region FROM sales UNION SELECT product FROM sales;
SELECT CASE WHEN GROUPING(region) = 1 THEN 'all' ELSE region END AS region, COUNT(*) AS n FROM sales GROUP BY ROLLUP (region);
SELECT VAR_SAMP(amount) AS v, COUNT(*) AS n FROM sales WHERE age IS NOT NULL;
