/** `sluice collect`: what somebody who helps has to see of a server, in one archive without secrets. */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import { systemClock } from '../../../shared/process/clock.ts';
import { createMessageTypes } from '../../../supervisor/admin/message-types.ts';
import { redact } from '../../../supervisor/admin/config-dump/redact.ts';
import { readOperatorsFile } from '../../../supervisor/config/configured-file.ts';
import { runPipeline } from '../../../supervisor/config/pipeline.ts';
import { type AdminClient, queryOf } from '../../admin-client/admin-client.ts';
import type { ReadPath } from '../../admin-client/admin-endpoints.ts';
import { adminClientOf } from '../admin-place.ts';
import { type Command, type CommandOutput, usageError } from '../command.ts';
import { doctorCommand } from '../doctor/doctor-command.ts';
import { ADMIN_HELP, ADMIN_VALUES, adminPlaceOf, readWords } from '../words.ts';
import { Scrubber } from './scrub.ts';
import { type ArchivedFile, tarOf } from './tar.ts';

const WRONG_USE = 2;
const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';
/** The limit of a log, of which the end is kept. */
const LOG_BYTES_MAX = 4 * 1024 * 1024;
const CONFIG_BYTES_MAX = 64 * 1024 * 1024;
const PROFILE_SECONDS_MAX = 300;
const WHOLE = /^\d{1,3}$/;

/** Pages by the names of their files. */
const PAGES: readonly (readonly [file: string, path: ReadPath, params?: object])[] = [
  ['server_info.json', '/server_info'],
  ['config_dump.json', '/config_dump', { include_eds: true }],
  ['config_history.json', '/config_history', { format: 'json', limit: 1_000 }],
  ['clusters.json', '/clusters', { format: 'json' }],
  ['hosts.json', '/hosts'],
  ['listeners.json', '/listeners', { format: 'json' }],
  ['connections.json', '/connections', { format: 'json', limit: 10_000 }],
  ['drain_status.json', '/drain_status'],
  ['init_dump.json', '/init_dump'],
  ['certs.json', '/certs'],
  ['runtime.json', '/runtime'],
  ['memory.json', '/memory'],
  ['stats.txt', '/stats'],
  ['stats.prometheus.txt', '/stats/prometheus'],
];

const VALUES = new Map<string, string>([
  ...ADMIN_VALUES,
  ['-c', 'config'],
  ['--config-path', 'config'],
  ['--log', 'log'],
  ['--profile', 'profile'],
  ['-o', 'output'],
  ['--output', 'output'],
]);

export const collectCommand: Command = {
  name: 'collect',
  help: `usage: sluice collect [OPTIONS]

Writes what somebody who helps has to see into one archive: pages of the admin interface, what sluice doctor says,
versions, and as asked the bootstrap, the end of a log, a CPU profile. Secrets are taken out: what the API marks as
sensitive, wherever its text stands, and what looks like one (keys, tokens, cookies, passwords). Look at it before
you pass it on.

${ADMIN_HELP}  -c FILE                    the bootstrap, which also tells what is secret
  --log FILE                 the end of a log, up to 4 MiB
  --profile SECONDS          a CPU profile of that long, which the server writes to its admin.profile_path
  -o, --output FILE          the archive, which must not be there (sluice-collect.tar.gz)

exit code: 0 written, 1 nothing is written, 2 the words of the command are wrong
`,
  async run(argv, output) {
    const given = readWords(argv, { values: VALUES });
    const seconds = typeof given === 'string' ? '' : (given.get('profile') ?? '0');
    const isGood = WHOLE.test(seconds) && Number(seconds) <= PROFILE_SECONDS_MAX;
    if (typeof given === 'string' || !isGood) {
      const reason =
        typeof given === 'string' ? given : `--profile needs seconds up to ${PROFILE_SECONDS_MAX}`;
      output.error(usageError(collectCommand, reason));
      return WRONG_USE;
    }
    try {
      await collect(given, Number(seconds), output);
      return 0;
    } catch (error) {
      output.error(`sluice collect: ${(error as Error).message}\n`);
      return 1;
    }
  },
};

type Given = ReadonlyMap<string, string>;

async function collect(given: Given, profileSeconds: number, output: CommandOutput): Promise<void> {
  const path = given.get('output') ?? 'sluice-collect.tar.gz';
  if (existsSync(path)) throw new Error(`${path} is there already`);
  const server = adminClientOf(adminPlaceOf(given));
  const scrubber = new Scrubber();
  const { authorization } = server.headers;
  if (authorization !== undefined) scrubber.learn(authorization.replace('Bearer ', ''));
  const texts: ArchivedFile[] = [
    { name: 'versions.json', content: versions() },
    ...(await configFile(given.get('config'), scrubber)),
    ...(await doctorFile(given.get('config'))),
    ...(await pages(server, output)),
    ...logFile(given.get('log')),
  ];
  const files: ArchivedFile[] = texts.map(({ name, content }) => ({
    name,
    content: scrubber.clean(String(content)),
  }));
  if (profileSeconds > 0) files.push(...(await profile(server, profileSeconds)));
  const archive = tarOf(
    files.map(({ name, content }) => ({ name: `sluice-collect/${name}`, content })),
    Math.floor(systemClock.wallMs() / 1000),
  );
  // Nobody else may read it, and nothing is replaced by it.
  writeFileSync(path, gzipSync(archive), { mode: 0o600, flag: 'wx' });
  output.out(`${path}: ${files.length} files\n`);
  for (const { name, content } of files) output.out(`  ${name} ${content.length}\n`);
}

async function pages(server: AdminClient, output: CommandOutput): Promise<readonly ArchivedFile[]> {
  const files: ArchivedFile[] = [];
  for (const [name, page, params = {}] of PAGES) {
    const path = `${page}${queryOf(params)}`;
    try {
      const { status, body } = await server.ask({ method: 'GET', path });
      files.push({ name, content: status === 200 ? body : `${path} answers ${status}\n${body}` });
    } catch (error) {
      // An archive without the server still has the rest.
      output.error(`sluice collect: ${path}: ${(error as Error).message}\n`);
      files.push({ name, content: `${path}: ${(error as Error).message}\n` });
      if (files.length === 1) return files;
    }
  }
  return files;
}

/** The bootstrap as it is understood, without what is sensitive, whose texts are learnt. */
async function configFile(path: string | undefined, scrubber: Scrubber): Promise<ArchivedFile[]> {
  if (path === undefined) return [];
  const content = await readOperatorsFile(path, CONFIG_BYTES_MAX);
  const format = path.endsWith('.json') ? 'json' : 'yaml';
  const source = { name: path, format, content } as const;
  const { message, problems } = await runPipeline(BOOTSTRAP, [source], { unknownFields: 'ignore' });
  const whole = message as unknown as JsonObject;
  const clean = redact(createMessageTypes(), BOOTSTRAP, whole);
  scrubber.learnFrom(whole, clean);
  const texts = problems.map((problem) => problem.message as JsonValue);
  return [
    {
      name: 'bootstrap.json',
      content: `${JSON.stringify({ bootstrap: clean, problems: texts }, undefined, 1)}\n`,
    },
  ];
}

async function doctorFile(config: string | undefined): Promise<ArchivedFile[]> {
  let content = '';
  const add = (text: string): void => {
    content += text;
  };
  await doctorCommand.run(config === undefined ? [] : ['-c', config], { out: add, error: add });
  return [{ name: 'doctor.txt', content }];
}

function logFile(path: string | undefined): ArchivedFile[] {
  if (path === undefined) return [];
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, LOG_BYTES_MAX));
    const read = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return [{ name: 'server.log', content: bytes.toString('utf8', 0, read) }];
  } finally {
    closeSync(fd);
  }
}

/** A profile has names of functions and no data. */
async function profile(server: AdminClient, seconds: number): Promise<ArchivedFile[]> {
  const dump = await server.get('/config_dump', { mask: 'bootstrap.admin' });
  const file = /"profile_path": "((?:[^"\\]|\\.)+)"/.exec(dump)?.[1] ?? '/var/log/envoy/envoy.prof';
  await server.post('/cpuprofiler', { enable: 'y' });
  await new Promise<void>((resolve) => systemClock.after(seconds * 1000, resolve));
  await server.post('/cpuprofiler', { enable: 'n' });
  return [{ name: 'cpu.prof', content: readFileSync(file) }];
}

function versions(): string {
  const { node, v8, openssl, uv } = process.versions;
  const { platform, arch } = process;
  return `${JSON.stringify({ node, v8, openssl, uv, platform, arch }, undefined, 1)}\n`;
}
