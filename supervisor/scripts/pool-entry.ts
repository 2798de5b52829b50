/**
 * Checks a module in a thread of its own: reads its files, takes their types away, runs it once, and
 * asks its schema about the settings. Whatever the module does here, the supervisor goes on.
 */
import { realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
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
import type { SourcePosition } from '../config/problem.ts';
import { faultOf, ModuleFault } from './module-fault.ts';
import { stripTypes } from './strip-types.ts';

export type CheckTask = (FileTask | KnownTask) & {
  /** What its default export must be; absent: any kind will do. */
  readonly kind?: ModuleKind;
  /** Of each that uses the module. */
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
  | { readonly module: ScriptModule; readonly issues: readonly (readonly SettingsIssue[])[] }
  | { readonly fault: string; readonly position?: SourcePosition | undefined };

export interface SettingsIssue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

const ENDINGS = /\.(m?[jt]s|json)$/;

// oxlint-disable-next-line import/no-default-export -- what a pool runs
export default async function checkModule(task: CheckTask): Promise<CheckReply> {
  const files: ScriptFile[] = [];
  try {
    const entry = 'module' in task ? task.module.entry : entryOf(task);
    const read: ReadScript =
      'module' in task ? readerOf(task.module) : async (path) => await readFile(path, task, files);
    const found = await runModule(entry, read, task);
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
    return { module: { entry, digest: digestOf(files), files }, issues };
  } catch (error) {
    const fault = faultOf(
      error,
      files.map(({ path }) => path),
    );
    return { fault: fault.message, position: fault.position };
  }
}

function entryOf({ file, package: name }: FileTask): string {
  if (file !== '') return resolve(file);
  return createRequire(join(process.cwd(), 'package.json')).resolve(name);
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
