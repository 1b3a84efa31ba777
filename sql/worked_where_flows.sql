\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- Five examples of what a where flow is for.
--
-- The day is that of the examples, so that they read the same on each day; you would
-- write current_date.
SET datestyle = ISO;
CREATE FUNCTION today() RETURNS date LANGUAGE sql STABLE AS $$ SELECT current_setting('test.today')::date $$;
SET test.today = '2026-03-10';

-- Daily aggregates that are kept for ever, of a source that keeps three days: what the
-- source has forgotten is out of the window, and stays.
CREATE TABLE events (at timestamptz, kind text);
INSERT INTO events
SELECT day + hour * interval '1 hour', CASE WHEN hour % 3 = 0 THEN 'view' ELSE 'click' END
FROM generate_series('2026-03-07'::timestamptz, '2026-03-10', '1 day') AS day, generate_series(0, 23) AS hour;
SELECT replace_flow.create_where_flow('events_agg', replace_where => 'date >= today() - 3', query => $$
    SELECT at::date AS date, kind, count(*) AS events
    FROM events
    GROUP BY at::date, kind $$);
SELECT refreshed('events_agg');
SELECT * FROM events_agg ORDER BY date, kind COLLATE "C";
-- A day later: some events came late, and those older than three days are deleted.
SET test.today = '2026-03-11';
INSERT INTO events VALUES ('2026-03-10 23:59:59', 'click'), ('2026-03-11 08:00', 'click');
DELETE FROM events WHERE at < today() - 3;
SELECT refreshed('events_agg');
SELECT * FROM events_agg ORDER BY date, kind COLLATE "C";
-- Two weeks later the source has nothing of the old days, and the target all of them.
SET test.today = '2026-03-25';
DELETE FROM events WHERE at < today() - 3;
INSERT INTO events VALUES ('2026-03-25 09:00', 'view');
SELECT refreshed('events_agg');
SELECT count(DISTINCT date) AS days, sum(events) AS events FROM events_agg;

-- A fact table joined with a dimension: an attribute changes, and only rows inside the
-- window take its new value; an override corrects older ones.
CREATE TABLE fact (date date, customer_id int, amount numeric(10, 2));
CREATE TABLE dim_customer (customer_id int PRIMARY KEY, segment text);
INSERT INTO dim_customer VALUES (1, 'small'), (2, 'small');
INSERT INTO fact VALUES ('2026-03-01', 1, 10), ('2026-03-02', 2, 20), ('2026-03-24', 1, 30), ('2026-03-25', 2, 40);
SELECT replace_flow.create_where_flow('fact_dim_join', replace_where => 'f.date >= today() - 7', query => $$
    SELECT f.date, f.customer_id, f.amount, d.segment
    FROM fact f
    JOIN dim_customer d USING (customer_id) $$);
-- the first load is of everything
SELECT refreshed('fact_dim_join', 'true');
UPDATE dim_customer SET segment = 'large' WHERE customer_id = 1;
SELECT refreshed('fact_dim_join');
SELECT * FROM fact_dim_join ORDER BY date;
SELECT refreshed('fact_dim_join', $$ date >= '2026-03-01' AND customer_id = 1 $$);
SELECT * FROM fact_dim_join ORDER BY date;

-- A metric that is added later: older rows hold NULL until an override asks for them.
CREATE TABLE clicks (event_date date, user_id int);
INSERT INTO clicks SELECT day, u % 4 FROM generate_series('2026-03-20'::date, '2026-03-25', '1 day') AS day, generate_series(1, extract(day FROM day)::int - 15) AS u;
SELECT replace_flow.create_where_flow('clickstream_daily', replace_where => 'event_date >= today() - 1', query => $$
    SELECT event_date, count(*) AS clicks
    FROM clicks
    GROUP BY event_date $$);
SELECT refreshed('clickstream_daily', 'true');
SELECT replace_flow.alter_flow('clickstream_daily', query => $$
    SELECT event_date, count(*) AS clicks, count(DISTINCT user_id) AS uniq_users
    FROM clicks
    GROUP BY event_date $$);
SELECT refreshed('clickstream_daily');
SELECT * FROM clickstream_daily ORDER BY event_date;
SELECT refreshed('clickstream_daily', $$ event_date BETWEEN '2026-03-22' AND '2026-03-23' $$);
SELECT * FROM clickstream_daily ORDER BY event_date;

-- Develop on seven days, then fill a year by one override.
CREATE TABLE revenue (date date, channel text, amount numeric);
INSERT INTO revenue SELECT day, (ARRAY['ads', 'mail'])[1 + i % 2], i FROM generate_series('2025-03-25'::date, '2026-03-25', '1 day') AS day, generate_series(1, 4) AS i;
SELECT replace_flow.create_where_flow('revenue_attribution', replace_where => 'date > today() - 7', query => $$
    SELECT date, channel, sum(amount) AS revenue, round(sum(amount) / sum(sum(amount)) OVER (PARTITION BY date), 3) AS share
    FROM revenue
    GROUP BY date, channel $$);
SELECT refreshed('revenue_attribution');
SELECT * FROM revenue_attribution WHERE date = '2026-03-25' ORDER BY channel COLLATE "C";
-- the shares were meant in percent
SELECT replace_flow.alter_flow('revenue_attribution', query => $$
    SELECT date, channel, sum(amount) AS revenue, round(100 * sum(amount) / sum(sum(amount)) OVER (PARTITION BY date), 1) AS share
    FROM revenue
    GROUP BY date, channel $$);
SELECT refreshed('revenue_attribution');
SELECT * FROM revenue_attribution WHERE date = '2026-03-25' ORDER BY channel COLLATE "C";
SELECT refreshed('revenue_attribution', $$ date > today() - interval '1 year' $$);
SELECT count(DISTINCT date) AS days, sum(revenue) AS revenue, min(share), max(share) FROM revenue_attribution;
-- the stored predicate is the same as before
SELECT refreshed('revenue_attribution');

-- Rows that were loaded by a plain INSERT, from a system that is no more, live on in the
-- same table.
CREATE TABLE orders (order_id int, ordered_on date, customer text);
INSERT INTO orders VALUES (501, '2026-03-20', 'A'), (502, '2026-03-24', 'B');
SELECT replace_flow.create_where_flow('orders_enriched', replace_where => 'ordered_on >= today() - 7', query => $$
    SELECT order_id, ordered_on, customer, 'shop' AS origin
    FROM orders $$);
INSERT INTO orders_enriched VALUES (1, '2019-05-01', 'a', 'legacy'), (2, '2019-05-02', 'b', 'legacy'), (3, NULL, 'c', 'legacy');
SELECT refreshed('orders_enriched');
UPDATE orders SET customer = 'B, renamed' WHERE order_id = 502;
SELECT refreshed('orders_enriched');
SELECT * FROM orders_enriched ORDER BY order_id;
\i :finish
