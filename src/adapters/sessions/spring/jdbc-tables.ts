import { ActuatorError } from "../../../common/error.ts";

/** The statements for one pair of Spring Session's tables. */
export interface SpringTables {
  /** Rows of `SessionRow`: $1 a session's id. */
  readonly byId: string;
  /** $1 the user's name, $2 the greatest number of rows. */
  readonly byUsername: string;
  /** $1 the greatest number of rows, then what `where` names. */
  page(where: PageConditions): string;
  /** $1 the time now, where `active` says something. */
  count(active: boolean | undefined): string;
  /** $1 a session's id. One row where it was there. */
  readonly delete: string;
}

/** Which sessions a page may have; each that is set takes the next parameters, in this order. */
export interface PageConditions {
  /** Sessions after a position: `EXPIRY_TIME` and `PRIMARY_ID`. */
  readonly after: boolean;
  /** Compared with the time now. */
  readonly active: boolean | undefined;
}

/** Whole numbers come as text: the application may have set what its client makes of `bigint`. */
export interface SessionRow {
  readonly id: string;
  readonly row: string;
  readonly created: string;
  readonly accessed: string;
  readonly max_inactive: string;
  readonly expiry: string;
  readonly username: string | null;
  /** A JSON array. */
  readonly names: string;
}

/**
 * Names stand in the statements as Spring puts them into its own: unquoted, so that PostgreSQL folds their case.
 *
 * @throws ActuatorError INVALID_ARGUMENT where one is no plain identifier.
 */
export function springTables(tableName: string, schema?: string): SpringTables {
  const [table, attributes] = [tableName, `${tableName}_ATTRIBUTES`].map((name) =>
    [...(schema === undefined ? [] : [identifier("schema", schema)]), identifier("tableName", name)].join("."),
  );
  const rows = `SELECT rtrim(S.SESSION_ID) AS id, rtrim(S.PRIMARY_ID) AS row, S.CREATION_TIME::text AS created,
    S.LAST_ACCESS_TIME::text AS accessed, S.MAX_INACTIVE_INTERVAL::text AS max_inactive, S.EXPIRY_TIME::text AS expiry,
    S.PRINCIPAL_NAME AS username, array_to_json(ARRAY(SELECT A.ATTRIBUTE_NAME FROM ${attributes} A
      WHERE A.SESSION_PRIMARY_ID = S.PRIMARY_ID))::text AS names
    FROM ${table} S`;
  return {
    byId: `${rows} WHERE S.SESSION_ID = $1`,
    byUsername: `${rows} WHERE S.PRINCIPAL_NAME = $1 LIMIT $2`,
    page({ after, active }) {
      const conditions = [
        ...(after ? ["(S.EXPIRY_TIME, S.PRIMARY_ID) < ($2, $3)"] : []),
        ...(active === undefined ? [] : [`S.EXPIRY_TIME ${comparison(active)} $${after ? 4 : 2}`]),
      ];
      const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
      return `${rows}${where} ORDER BY S.EXPIRY_TIME DESC, S.PRIMARY_ID DESC LIMIT $1`;
    },
    count(active) {
      const where = active === undefined ? "" : ` WHERE EXPIRY_TIME ${comparison(active)} $1`;
      return `SELECT count(*)::text AS count FROM ${table}${where}`;
    },
    // One statement, so that it needs no transaction. It does without ON DELETE CASCADE, which is not everywhere.
    delete: `WITH ended AS (SELECT PRIMARY_ID FROM ${table} WHERE SESSION_ID = $1),
      emptied AS (DELETE FROM ${attributes} WHERE SESSION_PRIMARY_ID IN (SELECT PRIMARY_ID FROM ended))
      DELETE FROM ${table} WHERE PRIMARY_ID IN (SELECT PRIMARY_ID FROM ended) RETURNING 1 AS deleted`,
  };
}

function comparison(active: boolean): ">" | "<=" {
  return active ? ">" : "<=";
}

function identifier(option: string, name: string): string {
  if (/^[\p{L}_][\p{L}\p{N}_$]*$/u.test(name)) return name;
  const message = `springSessionJdbc's ${option} must be a name without quotes, spaces and dots, like SPRING_SESSION.`;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: option });
}
