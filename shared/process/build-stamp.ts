/**
 * What was built: source revision, tree status and release. The build writes them beside this
 * file; without that file the package's own version stands in, as a development build.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtRoot } from './built-root.ts';

export interface BuildStamp {
  /** A commit hash, or `unknown`. */
  readonly revision: string;
  readonly status: 'Clean' | 'Modified';
  /** The package's version, with `-dev` unless it was built from a release tag or packed. */
  readonly release: string;
  /** Differs whenever a file that runs differs; empty without a stamp. */
  readonly buildId: string;
}

export function readBuildStamp(): BuildStamp {
  const stamp = readJson(join(builtRoot, 'shared', 'build-stamp.json'));
  if (stamp !== undefined) {
    return {
      revision: text(stamp['revision']) ?? 'unknown',
      status: stamp['status'] === 'Clean' ? 'Clean' : 'Modified',
      release: text(stamp['release']) ?? packageRelease(),
      buildId: text(stamp['buildId']) ?? '',
    };
  }
  return { revision: 'unknown', status: 'Modified', release: packageRelease(), buildId: '' };
}

/**
 * `revision/release/tree status/build mode/TLS library`. `stated` is the version of Envoy that tools
 * which compare versions are to read; without it the release is our own.
 */
export function versionText(stamp: BuildStamp, stated?: string): string {
  return `${stamp.revision}/${stated ?? stamp.release}/${stamp.status}/RELEASE/OpenSSL`;
}

function packageRelease(): string {
  const manifest = readJson(join(builtRoot, '..', 'package.json'));
  return `${text(manifest?.['version']) ?? '0.0.0'}-dev`;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readJson(path: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
