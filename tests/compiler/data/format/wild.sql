-- headrace: allow HR219
create source orders (id bigint not null, customer STRING, price decimal(12,2),
  total AS price*qty, -- computed
  ts timestamp(3) METADATA FROM 'timestamp' virtual,
  tags array<struct<a:int,b:map<string,int>>>,
  watermark for ts as ts - interval '5' second, primary key(id) not enforced) with (connector='kafka', 'topic' = 'x');

create model m with (state_ttl='1 d') as select /*+ STATE_TTL('1d') */ a.id,sum(price) as p, -1 as neg, a - -1, case when a>1 and b<2 then 'x' else 'y' end as kind, count(*) filter (where x is not distinct from y) c, `we ird`.x[1].y as `group`, date, left(a,3), interval 5 minutes
from tumble(table orders, descriptor(ts), interval '5' minutes) a
-- about the join
left join customers for system_time as of a.ts as c on a.id=c.id and a.very_long_column_name_number_one = c.very_long_column_name_number_two and x between 1 and 2
where a>${least} and name like '%x' or not (b in (1,2,3) and c is null) -- trailing
group by window_start,window_end having count(*)>1 union all select * from (select x, row_number() over (partition by a order by b desc) rn from t) where rn<=3 order by a desc limit 10;
insert into t(a,b) with q as (select 1 as x), r as (select 2) select * from q, r;
execute statement set begin insert into a select 1; insert into b select 2; end;
set 'k' = 'v';
select {{ ref('x') }}.a, pre_${x}_post, x -> x+1, a::int, v:path.b from {{ source('a','b') }}
