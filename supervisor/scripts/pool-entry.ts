/**
 * Checks a module in a thread of its own: reads its files, takes their types away, runs it once, and
 * asks its schema about the settings. Whatever the module does here, the supervisor goes on.
 */
import { realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  DEFINED_BY,
  type DefinedModule,
  definedModule,
  type ModuleKind,
} from '../../shared/scripts/module-definition.ts';
import { digestOf, readerOf, runModule, type ReadScript } from '../../shared/scripts/run-module.ts';
import type { SchemaIssue } from '../../shared/scripts/schema.ts';
import {
  SCRIPT_CHARACTERS_MAX,
  SCRIPT_FILES_MAX,
  type ScriptFile,
  type ScriptModule,
} from '../../shared/scripts/script-module.ts';
import { readConfiguredFile } from '../config/configured-file.ts';
import type { AdminPagesDefinition } from '../../shared/scripts/admin-pages.ts';
import { answerPage, type PageReply, type PageTask } from './answer-page.ts';
import type { SourcePosition } from '../config/problem.ts';
import { findEntry } from './find-entry.ts';
import { faultOf, ModuleFault } from './module-fault.ts';
import { stripTypes } from './strip-types.ts';

export type CheckTask = (FileTask | KnownTask) & {
  /** What its default export must be; absent: any kind will do. */
  readonly kind?: ModuleKind;
  /** The settings of each filter that uses the module. */
  readonly settings: readonly unknown[];
  readonly timeoutMs: number;
};

/** A version that was found good before: its files are not read again. */
interface KnownTask {
  readonly module: ScriptModule;
}

interface FileTask {
  /** Below one of these the files must be; undefined: anywhere. */
  readonly folders: readonly string[] | undefined;
  readonly file: string;
  readonly package: string;
}

export type CheckReply =
  | {
      readonly module: ScriptModule;
      readonly issues: readonly (readonly SettingsIssue[])[];
      /** The pages of a module of pages. */
      readonly pages?: readonly ListedPage[];
    }
  | { readonly fault: string; readonly position?: SourcePosition | undefined };

/** What is known of a page without asking it. */
export interface ListedPage {
  readonly path: string;
  readonly help: string;
  readonly mutates: boolean;
}

export interface SettingsIssue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** The limit of one module. */
const PAGES_MAX = 100;
const PAGE_PATH = /^(?:\/[a-zA-Z0-9._-]+)+$/;
/** `import()` of a file by its name. */
const LATER = /\bimport\(\s*(['"])(\.{1,2}\/[^'"\n]+)\1\s*[,)]/g;
const ENDINGS = /\.(m?[jt]s|json)$/;

// oxlint-disable-next-line import/no-default-export -- what pools run
export default async function runTask(task: CheckTask | PageTask): Promise<CheckReply | PageReply> {
  return 'page' in task ? await answerPage(task) : await checkModule(task);
}

async function checkModule(task: CheckTask): Promise<CheckReply> {
  const files: ScriptFile[] = [];
  try {
    const entry = 'module' in task ? task.module.entry : await findEntry(task.file, task.package);
    const read: ReadScript =
      'module' in task ? readerOf(task.module) : async (path) => await readFile(path, task, files);
    const found = await runModule(entry, read, task);
    if (!('module' in task)) await readLater(task, files);
    const defined = definedModule(found);
    if (defined === undefined || (task.kind !== undefined && defined.kind !== task.kind)) {
      const maker = DEFINED_BY[task.kind ?? 'filter'];
      throw new ModuleFault(`its default export is not made by ${maker}`, {
        source: entry,
        line: 1,
        column: 1,
      });
    }
    const issues: (readonly SettingsIssue[])[] = [];
    for (const settings of task.settings)
      issues.push(await settingsIssues(defined.definition, settings));
    if ('module' in task) return { module: task.module, issues };
    const module = { entry, digest: digestOf(files), files };
    if (defined.kind !== 'admin_pages') return { module, issues };
    return { module, issues, pages: listPages(defined.definition, entry) };
  } catch (error) {
    const fault = faultOf(
      error,
      files.map(({ path }) => path),
    );
    return { fault: fault.message, position: fault.position };
  }
}

function listPages({ pages }: AdminPagesDefinition, entry: string): readonly ListedPage[] {
  const listed = Object.entries(pages).map(([path, page]) => {
    const isPage = PAGE_PATH.test(path) && typeof page.handle === 'function';
    if (!isPage) throw new ModuleFault(`${path} is no page`, { source: entry, line: 1, column: 1 });
    return { path, help: String(page.help), mutates: page.mutates === true };
  });
  if (listed.length > PAGES_MAX) throw new ModuleFault('it has too many pages');
  return listed;
}

/** Files of packages are the runtime's, but for the package that is the module itself. */
async function readFile(
  path: string,
  { folders }: FileTask,
  files: ScriptFile[],
): Promise<string | undefined> {
  if (!ENDINGS.test(path)) {
    if (files.length > 0) return undefined;
    throw new ModuleFault(`${path} is no module: its name must end in .ts, .mts, .js or .mjs`);
  }
  const place = folders === undefined ? path : await placeBelow(path, folders);
  if (files.length >= SCRIPT_FILES_MAX) throw new ModuleFault('it has too many files');
  const content = await readConfiguredFile(place, SCRIPT_CHARACTERS_MAX);
  const text = stripTypes(path, content.toString());
  files.push({ path, text });
  const length = files.reduce((sum, each) => sum + each.text.length, 0);
  if (length > SCRIPT_CHARACTERS_MAX) throw new ModuleFault('its files are too large');
  return text;
}

/** The file itself, without links, which lead away from no folder that is named. */
async function placeBelow(path: string, folders: readonly string[]): Promise<string> {
  const named = folders.filter((folder) => isBelow(path, resolve(folder)));
  if (named.length === 0)
    throw new ModuleFault(`${path} is not below a folder of --script-folders`);
  const place = await realpath(path);
  for (const folder of named) {
    // The folder may be a link itself, as mounted volumes are.
    if (isBelow(place, await realpath(folder))) return place;
  }
  throw new ModuleFault(
    `${path} is a link to a file that is not below a folder of --script-folders`,
  );
}

/** Files that are imported only when something happens belong to the module, too. */
async function readLater(task: FileTask, files: ScriptFile[]): Promise<void> {
  // It grows while it is read.
  for (const { path, text } of files) {
    for (const [, , specifier = ''] of text.matchAll(LATER)) {
      const later = resolve(dirname(path), specifier);
      if (files.some((each) => each.path === later)) continue;
      try {
        await readFile(later, task, files);
      } catch (error) {
        // One that is not there may never be asked for.
        if (error instanceof ModuleFault) throw error;
      }
    }
  }
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

async function settingsIssues(
  { schema }: DefinedModule['definition'],
  settings: unknown,
): Promise<readonly SettingsIssue[]> {
  if (schema === undefined) return [];
  const { issues } = await schema['~standard'].validate(settings);
  return (issues ?? []).map(({ message, path }) => ({ message, path: (path ?? []).map(keyOf) }));
}

function keyOf(step: NonNullable<SchemaIssue['path']>[number]): string | number {
  const key = typeof step === 'object' ? step.key : step;
  return typeof key === 'number' ? key : String(key);
}
