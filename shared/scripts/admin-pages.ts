/** What a module that adds pages to the administration interface sees. */
import type { StandardSchema } from './schema.ts';

export interface AdminPageRequest {
  readonly method: string;
  readonly path: string;
  /** The first value of each name. */
  readonly query: ReadonlyMap<string, string>;
  /** As latin1 text. */
  readonly body: string;
  /** Asks the server's own administration interface, for instance for `/stats?format=json`. */
  admin(path: string): Promise<{ readonly status: number; readonly body: string }>;
}

export interface AdminPageAnswer {
  /** Default: 200. */
  readonly status?: number;
  /** Default: text/plain. */
  readonly contentType?: string;
  readonly body: string | Uint8Array;
}

export interface AdminPage<Settings> {
  /** For `/help` and the home page. */
  readonly help: string;
  /** It changes something: POST only, and written to the audit log. */
  readonly mutates?: boolean;
  /** A text is a page of its own. */
  handle(
    request: AdminPageRequest,
    settings: Settings,
  ): string | AdminPageAnswer | Promise<string | AdminPageAnswer>;
}

export interface AdminPagesDefinition<Settings = unknown> {
  /** Checks the settings when the configuration is loaded. Absent: there are none. */
  readonly schema?: StandardSchema<Settings>;
  /** By path. */
  readonly pages: Readonly<Record<`/${string}`, AdminPage<Settings>>>;
}

const DEFINED = Symbol.for('sluice.admin_pages');

/** Marks what a module exports as its default. */
export function defineAdminPages<Settings = unknown>(
  definition: AdminPagesDefinition<Settings>,
): AdminPagesDefinition<Settings> {
  return Object.assign({ ...definition }, { [DEFINED]: true });
}

export function isAdminPages(value: object): value is AdminPagesDefinition {
  return DEFINED in value;
}
