{{ config(state_ttl='1 d', state_ttl='2 d') }}
{% if is_incremental() %} WHERE 1 {% endif %}
SELECT '${nme}', $${not_a_variable}, {{ env_var('X') }}, {{ reff('x') }}, {{ ref(name) }}, {{ this }},
  {{ var('missing') }}, {{ var('other', 1) }}, ${unclosed
FROM {{ source('shop', 'orders') }} JOIN {{ ref('b') }} -- {{ ignored }} ${ignored}
