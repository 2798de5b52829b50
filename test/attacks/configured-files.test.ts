/**
 * Files that a configuration names may be anything: nothing is waited for, and no more is read than
 * may be.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, GREETING } from '../support/parts/bootstrap.ts';
import { fileSource } from '../support/peers/discovery-files.ts';
import { fetchOnce } from '../support/peers/http-client.ts';
import { makeScratch, type Scratch } from '../support/scratch.ts';
import { runSluice, startSluice } from '../support/programs/sluice.ts';
import { within } from '../support/wait.ts';
import {
  readConfiguredFile,
  readConfiguredFileNow,
  SOURCE_BYTES_MAX,
} from '../../supervisor/config/configured-file.ts';

const LIMIT_MS = 20_000;
const EXTENSIONS = 'type.googleapis.com/envoy.extensions';

/** By what they are; each with the words that a reader refuses it with. */
function hostileFiles(scratch: Scratch): readonly (readonly [path: string, words: RegExp])[] {
  const [fifo, one, other] = ['fifo', 'loop-1', 'loop-2'].map((name) => scratch.file(name));
  const [link, folder, huge] = ['link', 'folder', 'huge'].map((name) => scratch.file(name));
  assert.ok(fifo && one && other && link && folder && huge);
  execFileSync('mkfifo', [fifo]);
  symlinkSync(one, other);
  symlinkSync(other, one);
  symlinkSync('/dev/zero', link);
  mkdirSync(folder);
  writeFileSync(huge, '');
  // Takes no room on the disk.
  truncateSync(huge, 3 * 1024 ** 3);
  return [
    [fifo, /is no regular file/],
    [one, /ELOOP/],
    [link, /^Invalid path: .*link$/],
    [folder, /is a directory/],
    [huge, /has 3221225472 bytes or more; the limit is/],
    ['/dev/zero', /^Invalid path: \/dev\/zero$/],
    ['/dev/../dev/zero', /^Invalid path: \/dev\/\.\.\/dev\/zero$/],
    ['/proc/self/cmdline', /^Invalid path: /],
    ['/sys/kernel/notes', /^Invalid path: /],
    [scratch.file('none'), /ENOENT/],
  ];
}

function secureListener(path: string, at: number): object {
  const certificate = { certificate_chain: { filename: path }, private_key: { filename: path } };
  const listener = httpListener(GREETING, { name: `tls-${at}` }) as {
    readonly filter_chains: readonly object[];
  };
  const transport_socket = {
    name: 'tls',
    typed_config: {
      '@type': `${EXTENSIONS}.transport_sockets.tls.v3.DownstreamTlsContext`,
      common_tls_context: {
        tls_certificates: [certificate],
        validation_context: { trusted_ca: { filename: path }, crl: { filename: path } },
      },
    },
  };
  return {
    ...listener,
    filter_chains: listener.filter_chains.map((chain) => ({ ...chain, transport_socket })),
  };
}

/** With the path in each place where one may stand. */
function everywhere(path: string, at: number): object {
  const answer = { status: 200, body: { filename: path } };
  const log = {
    name: 'log',
    typed_config: { '@type': `${EXTENSIONS}.access_loggers.file.v3.FileAccessLog`, path },
  };
  const users = {
    name: 'auth',
    typed_config: {
      '@type': `${EXTENSIONS}.filters.http.basic_auth.v3.BasicAuth`,
      users: { filename: path },
    },
  };
  const router = {
    name: 'router',
    typed_config: { '@type': `${EXTENSIONS}.filters.http.router.v3.Router` },
  };
  return {
    listeners: [
      httpListener([{ match: { prefix: '/' }, direct_response: answer }], { name: `body-${at}` }),
      secureListener(path, at),
      httpListener(GREETING, { name: `log-${at}`, hcm: { access_log: [log] } }),
      httpListener(GREETING, { name: `auth-${at}`, hcm: { http_filters: [users, router] } }),
    ],
    cluster: {
      name: `eds-${at}`,
      type: 'EDS',
      connect_timeout: '1s',
      eds_cluster_config: { eds_config: fileSource(path) },
    },
  };
}

describe('files that a configuration names', () => {
  it('are refused where they are no regular file within the limit', async () => {
    using scratch = makeScratch();
    for (const [path, words] of hostileFiles(scratch)) {
      const message = (error: Error): boolean => {
        assert.match(error.message, words);
        return true;
      };
      assert.throws(() => readConfiguredFileNow(path), message);
      const reading = readConfiguredFile(path, SOURCE_BYTES_MAX);
      await assert.rejects(within(path, reading, LIMIT_MS), message);
    }
    writeFileSync(scratch.file('good'), 'good');
    symlinkSync(scratch.file('good'), scratch.file('to-good'));
    assert.equal(readConfiguredFileNow(scratch.file('to-good')).toString(), 'good');
    assert.throws(() => readConfiguredFileNow(scratch.file('good'), 3), /the limit is 3/);
  });

  it('keep no validation waiting, wherever they stand', async () => {
    using scratch = makeScratch();
    const parts = hostileFiles(scratch).map(
      ([path], at) =>
        everywhere(path, at) as {
          readonly cluster: object;
          readonly listeners: readonly object[];
        },
    );
    const configuration = bootstrap(
      {
        listeners: parts.flatMap(({ listeners }) => listeners),
        clusters: parts.map(({ cluster }) => cluster),
      },
      { node: { id: 'test', cluster: 'test' } },
    );
    const path = scratch.file('bootstrap.json');
    writeFileSync(path, JSON.stringify(configuration));
    const { code, stderr } = await runSluice(['--mode', 'validate', '-c', path], LIMIT_MS);
    assert.equal(code, 1);
    assert.match(stderr, /Invalid path: \/dev\/zero/);
    assert.match(stderr, /fifo' is no regular file/);
  });

  it('keep no server waiting that follows them', async () => {
    using scratch = makeScratch();
    const files = hostileFiles(scratch).filter(([path]) => !/none$|loop/.test(path));
    mkdirSync(scratch.file('runtime'));
    execFileSync('mkfifo', [scratch.file('runtime/key')]);
    const [fifo = ''] = files[0] ?? [];
    const log = {
      name: 'log',
      typed_config: { '@type': `${EXTENSIONS}.access_loggers.file.v3.FileAccessLog`, path: fifo },
    };
    await using sluice = await startSluice({
      scratch,
      bootstrap: bootstrap(
        {
          listeners: [httpListener(GREETING, { hcm: { access_log: [log] } })],
          clusters: files.map(([path], at) => ({
            ...(everywhere(path, at) as { readonly cluster: object }).cluster,
          })),
        },
        {
          node: { id: 'test', cluster: 'test' },
          dynamic_resources: { cds_config: fileSource(fifo) },
        },
      ),
    });
    assert.equal((await fetchOnce({ port: await sluice.listenerPort('web') })).status, 200);
    assert.equal((await sluice.admin('/clusters')).status, 200);
  });
});
