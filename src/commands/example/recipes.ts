/**
 * The recipes: complete bootstraps in docs/examples, each with a title, what it does and what to try
 * in the comment at its head.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtRoot } from '../../../shared/process/built-root.ts';

export interface Recipe {
  /** The file's name without its ending. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Commands, one a line. */
  readonly tries: readonly string[];
  /** The bootstrap without the comment at its head. */
  readonly bootstrap: string;
  /** The whole file. */
  readonly text: string;
}

const FOLDER = join(builtRoot, '..', 'docs', 'examples');
const ENDING = '.yaml';
/** The order of the page; what is not named follows by name. */
const FIRST = [
  'app',
  'tls',
  'two-apps',
  'hosts',
  'gzip',
  'basic-auth',
  'rate-limit',
  'json-log',
  'error-pages',
  'websocket',
  'canary',
  'cors',
  'edge',
  'health-and-retries',
  'grpc',
  'jwt',
  'mtls',
  'tcp',
  'sni',
  'control-plane',
];

/** In the order of the page. */
export function recipeNames(): readonly string[] {
  const names = readdirSync(FOLDER)
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .sort();
  return [...FIRST, ...names.filter((name) => !FIRST.includes(name))];
}

/** `name` is one of `recipeNames()`. */
export function readRecipe(name: string): Recipe {
  const text = readFileSync(join(FOLDER, `${name}${ENDING}`), 'utf8');
  const lines = text.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('#'));
  const [title = '', ...rest] = lines.slice(0, end).map((line) => line.replace(/^# ?/, ''));
  const at = rest.indexOf('Try:');
  return {
    name,
    title,
    description: rest.slice(0, at).join('\n').trim(),
    tries: rest.slice(at + 1).map((line) => line.replace(/^ {2}/, '').trimEnd()),
    bootstrap: lines.slice(end).join('\n'),
    text,
  };
}
