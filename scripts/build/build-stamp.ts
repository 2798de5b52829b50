/**
 * Stamps what was built: the source revision, whether the tree was changed, the release, and an id
 * that differs whenever a file that runs differs. The server prints and compares these.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Written to dist/shared/process/build-stamp.json. */
interface BuildStamp {
  readonly revision: string;
  readonly status: 'Clean' | 'Modified';
  /**
   * The package's version; `-dev` is added unless the revision carries the release's tag or is
   * being packed.
   */
  readonly release: string;
  readonly buildId: string;
}

const productFolders = ['src', 'supervisor', 'workers', 'shared'];

/** The API's hash stands for the generated descriptors. */
export function writeBuildStamp(projectRoot: string, apiHash: string): void {
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  const given = process.env['SOURCE_REVISION'];
  const git = (args: string[]): string | undefined => runGit(projectRoot, args);
  const revision = given ?? git(['rev-parse', 'HEAD']) ?? 'unknown';
  const changes = given === undefined ? git(['status', '--porcelain']) : '';
  const tags = git(['tag', '--points-at', 'HEAD'])?.split('\n') ?? [];
  // What is packed from a tree without changes is a release, tagged or not.
  const isPacked = ['pack', 'publish'].includes(process.env['npm_command'] ?? '') && changes === '';
  const isRelease = tags.includes(`v${version}`) || isPacked;
  const stamp: BuildStamp = {
    revision,
    status: changes === undefined || changes === '' ? 'Clean' : 'Modified',
    release: isRelease ? version : `${version}-dev`,
    buildId: hashSources(projectRoot, apiHash),
  };
  const path = join(projectRoot, 'dist', 'shared', 'build-stamp.json');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(stamp, undefined, 2)}\n`);
}

function hashSources(projectRoot: string, apiHash: string): string {
  const hash = createHash('sha256').update(apiHash);
  hash.update(readFileSync(join(projectRoot, 'package-lock.json')));
  for (const folder of productFolders) {
    for (const file of sourcesIn(join(projectRoot, folder))) {
      hash.update(`${file}\0`).update(readFileSync(file));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function sourcesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith(join('api', 'generated')))
      .sort()
      .map((file) => join(folder, file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return [];
    }
    throw error;
  }
}

/** Undefined where there is no git or no repository. */
function runGit(projectRoot: string, args: string[]): string | undefined {
  try {
    return execFileSync('git', args, {
      cwd: projectRoot,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}
