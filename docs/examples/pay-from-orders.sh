#!/bin/sh
# Pays the open orders of an order system by curl: one CSV file, one post. Post it again after a lost answer:
# the same content is the same batch.
# Use: COUNTERFOIL_URL=http://127.0.0.1:8788 COUNTERFOIL_TOKEN=… sh pay-from-orders.sh orders.csv
set -eu
file=$1
rows=$(($(wc -l <"$file") - 1))
answer=$(curl --silent --show-error --retry 5 --retry-all-errors \
  --header "Authorization: Bearer $COUNTERFOIL_TOKEN" --header 'Content-Type: text/csv' --data-binary "@$file" \
  --write-out '\n%{http_code}' "$COUNTERFOIL_URL/api/v1/batches?name=$(basename "$file")&rows=$rows")
status=$(printf '%s' "$answer" | tail -n 1)
printf '%s\n' "$answer" | sed '$d'
# 201: taken in now. 409: an earlier post had this content; `batch` names its batch.
case $status in 201 | 409) ;; *) exit 1 ;; esac
