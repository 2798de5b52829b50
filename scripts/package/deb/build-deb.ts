/**
 * `npm run package:deb`: a Debian package with a Node.js of its own, units, a user, and a first bootstrap.
 * Prints its path.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { nodeLicence, projectRoot, readManifest, stageRuntime } from '../runtime-tree.ts';
import { debUnit } from './deb-unit.ts';
import { copyrightText, controlText, changelogText, md5sums } from './deb-texts.ts';
import { manualPages } from './manual-pages.ts';

const HOME = 'usr/lib/sluice';
const DOCUMENTS = 'usr/share/doc/sluice';
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
]);
/** Where each shell looks for them. */
const COMPLETIONS: readonly (readonly [shell: string, path: string])[] = [
  ['bash', 'usr/share/bash-completion/completions/sluice'],
  ['zsh', 'usr/share/zsh/vendor-completions/_sluice'],
  ['fish', 'usr/share/fish/vendor_completions.d/sluice.fish'],
];
/** The level of xz: the package grows by a tenth with 1, and is made in a third of the time. */
const LEVEL = process.env['SLUICE_DEB_LEVEL'] ?? '6';

const { version } = readManifest();
const architecture = ARCHITECTURES.get(process.arch);
if (architecture === undefined) throw new Error(`no Debian name for ${process.arch}`);
const files = join(projectRoot, 'scripts', 'package', 'deb', 'files');
const root = mkdtempSync(join(tmpdir(), 'sluice-deb-'));
try {
  stage();
  const out = process.argv[2] ?? join(projectRoot, 'dist', 'packages');
  mkdirSync(out, { recursive: true });
  const path = join(out, `sluice_${version}_${architecture}.deb`);
  const words = ['--root-owner-group', '-Zxz', `-z${LEVEL}`, '--build', root, path];
  execFileSync('dpkg-deb', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  console.log(path);
} finally {
  rmSync(root, { recursive: true });
}

function stage(): void {
  stageRuntime(join(root, HOME));
  for (const program of ['sluice', 'sluice-restarter']) {
    const entry = program === 'sluice' ? 'main.js' : 'restarter-main.js';
    const line = `exec /${HOME}/node /${HOME}/dist/src/${entry} "$@"`;
    write(`usr/bin/${program}`, `#!/bin/sh\n${line}\n`, 0o755);
  }
  for (const unit of ['sluice.service', 'sluice@.service', 'sluice.socket']) {
    const text = readFileSync(join(projectRoot, 'scripts', 'systemd', unit), 'utf8');
    write(`lib/systemd/system/${unit}`, debUnit(text));
  }
  write('usr/lib/sysusers.d/sluice.conf', readFileSync(join(files, 'sysusers.conf'), 'utf8'));
  write(
    'etc/sluice/bootstrap.yaml',
    readFileSync(join(projectRoot, 'docs/examples/app.yaml'), 'utf8'),
  );
  write(`${DOCUMENTS}/copyright`, copyrightText(nodeLicence()));
  write(`${DOCUMENTS}/changelog.gz`, zipped(changelogText(version)));
  const notices = ['THIRD_PARTY_NOTICES', 'dist/PACKED_NOTICES'];
  const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
  write(`${DOCUMENTS}/NOTICES.gz`, zipped(notices.map(read).join('\n')));
  write(`${DOCUMENTS}/NEWS.gz`, zipped(readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8')));
  for (const [name, text] of manualPages(version)) write(`usr/share/man/${name}.gz`, zipped(text));
  for (const [shell, path] of COMPLETIONS) write(path, completionsOf(shell));
  write(
    'usr/share/lintian/overrides/sluice',
    readFileSync(join(files, 'lintian-overrides'), 'utf8'),
  );
  setModes(root);
  const own = listFiles('').filter((path) => !path.startsWith('etc/'));
  write('DEBIAN/md5sums', md5sums(root, own));
  write('DEBIAN/conffiles', '/etc/sluice/bootstrap.yaml\n');
  const bytes = listFiles('').reduce((sum, path) => sum + lstatSync(join(root, path)).size, 0);
  write('DEBIAN/control', controlText({ version, architecture: architecture ?? '', bytes }));
  for (const script of ['postinst', 'prerm', 'postrm']) {
    cpSync(join(files, script), join(root, 'DEBIAN', script));
    chmodSync(join(root, 'DEBIAN', script), 0o755);
  }
}

/** What the program itself prints. */
function completionsOf(shell: string): Buffer {
  const program = join(projectRoot, 'dist', 'src', 'main.js');
  return execFileSync(process.execPath, [program, 'completion', shell]);
}

function write(path: string, content: string | Buffer, mode = 0o644): void {
  const whole = join(root, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, content);
  chmodSync(whole, mode);
}

/** The same bytes whenever it is made: gzip would write the time. */
function zipped(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

/** Files, sorted, from the package's root. */
function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (path === 'DEBIAN') return [];
      return entry.isDirectory() ? listFiles(path) : [path];
    })
    .sort();
}

/** Whatever the umask was: folders for all to enter, files for all to read. */
function setModes(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) setModes(path);
    else chmodSync(path, isProgram(path) ? 0o755 : 0o644);
  }
}

function isProgram(path: string): boolean {
  const inside = path.slice(root.length + 1);
  return inside === `${HOME}/node` || inside.startsWith('usr/bin/');
}
