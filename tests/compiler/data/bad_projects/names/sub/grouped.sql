SELECT * FROM {{ source('shop', 'orders') }}
