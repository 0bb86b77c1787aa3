const NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

/** Reads the clock, and the document of fleet $1 if its version is not $2. */
export const READ = `select ${NOW} as now, coalesce(f.version, '') as version,
  case when coalesce(f.version, '') <> $2 then f.document end as document
  from (select 1) as one left join ca_fleet f on f.fleet = $1`;

/** Stores the report $4 of instance $3, and reads as {@link READ} does. */
export const REPORT = `with reported as (
    insert into ca_fleet_instance (fleet, id, seen, report) values ($1, $3, ${NOW}, $4)
    on conflict (fleet, id) do update set seen = excluded.seen, report = excluded.report
  ) ${READ}`;

/** Stores the first document of fleet $1: version $2, text $3. Then gives the hint $5 to channel $4. A row: it was stored. */
export const FIRST = `with stored as (
    insert into ca_fleet (fleet, version, document) values ($1, $2, $3) on conflict do nothing returning 1
  ) select pg_notify($4, $5) from stored`;

/** Like {@link FIRST}, but replaces the document of version $6. */
export const NEXT = `with stored as (
    update ca_fleet set version = $2, document = $3 where fleet = $1 and version = $6 returning 1
  ) select pg_notify($4, $5) from stored`;

/** The reports of fleet $1 that are at most a minute old. */
export const REPORTS = `select id, seen, report from ca_fleet_instance where fleet = $1 and seen > ${NOW} - 60000`;

/** Removes the reports of all fleets that are older than an hour. */
export const PRUNE = `delete from ca_fleet_instance where seen < ${NOW} - 3600000`;

/** Removes the report of instance $2 of fleet $1. */
export const LEAVE = "delete from ca_fleet_instance where fleet = $1 and id = $2";
