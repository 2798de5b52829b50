/**
 * The page's style and script: files of our own beside this module's folder, put into the page
 * itself and named by their digest in its Content-Security-Policy, so that nothing else can run.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtRoot } from '../../../shared/process/built-root.ts';

export interface PageAssets {
  readonly style: string;
  readonly script: string;
  readonly policy: string;
}

/** The second uses the first. */
const SCRIPTS = ['admin.js', 'console.js'];

const folder = join(builtRoot, 'supervisor', 'admin', 'html');
let loaded: { readonly assets: PageAssets | undefined } | undefined;

/** Undefined when the build left the pages out. Read once: two small files. */
export function loadPageAssets(): PageAssets | undefined {
  loaded ??= { assets: readAssets() };
  return loaded.assets;
}

function readAssets(): PageAssets | undefined {
  try {
    const style = readFileSync(join(folder, 'admin.css'), 'utf8');
    const script = SCRIPTS.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
    return { style, script, policy: policyFor(style, script) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function policyFor(style: string, script: string): string {
  return [
    `default-src 'none'`,
    `style-src ${digestOf(style)}`,
    `script-src ${digestOf(script)}`,
    `connect-src 'self'`,
    `img-src data:`,
    `form-action 'self'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}

function digestOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
