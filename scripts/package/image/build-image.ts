/**
 * `npm run package:image`: a container image as an OCI layout, written without a daemon: a folder that umoci and skopeo
 * take, and the same as a tar file for `docker load` and `podman load`. Prints both paths.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { projectRoot, readManifest } from '../runtime-tree.ts';
import { stageProgram, stageSystem } from './image-tree.ts';

const MEDIA = 'application/vnd.oci.image';
/** As Docker calls the processors. */
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
]);
/** The same image from the same files. */
const CREATED = '1970-01-01T00:00:00Z';

const { version } = readManifest();
const out = process.argv[2] ?? join(projectRoot, 'dist', 'packages');
const layout = join(out, 'sluice-image');
const blobs = join(layout, 'blobs', 'sha256');
rmSync(layout, { recursive: true, force: true });
mkdirSync(blobs, { recursive: true });

const layers = [layerOf(stageSystem), layerOf(stageProgram)];
const config = writeBlob(
  JSON.stringify({
    created: CREATED,
    architecture: ARCHITECTURES.get(process.arch),
    os: 'linux',
    config: {
      User: '101:101',
      Env: ['PATH=/usr/local/bin'],
      WorkingDir: '/etc/envoy',
      Entrypoint: ['/usr/local/bin/sluice-restarter'],
      Cmd: ['-c', '/etc/envoy/envoy.yaml'],
      ExposedPorts: { '8080/tcp': {} },
      Labels: {
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.title': 'sluice',
      },
      // Not of OCI: Docker and Podman read it.
      Healthcheck: { Test: ['CMD', '/usr/local/bin/sluice-restarter', 'status'] },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diff }) => diff) },
    history: layers.map(({ diff }) => ({ created: CREATED, comment: diff })),
  }),
);
const manifest = writeBlob(
  JSON.stringify({
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config: { mediaType: `${MEDIA}.config.v1+json`, ...config },
    layers: layers.map(({ digest, size }) => ({
      mediaType: `${MEDIA}.layer.v1.tar+gzip`,
      digest,
      size,
    })),
  }),
);
const index = {
  schemaVersion: 2,
  mediaType: `${MEDIA}.index.v1+json`,
  manifests: [
    {
      mediaType: `${MEDIA}.manifest.v1+json`,
      ...manifest,
      annotations: { 'org.opencontainers.image.ref.name': version },
    },
  ],
};
writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
const archive = join(out, `sluice-${version}-oci.tar`);
execFileSync('tar', ['-cf', archive, '-C', layout, 'oci-layout', 'index.json', 'blobs']);
const packed = layers.reduce((sum, { size }) => sum + size, 0);
console.log(`${layout}\n${archive}\n${packed} bytes in ${layers.length} layers`);

interface Blob {
  readonly digest: string;
  readonly size: number;
}

function writeBlob(content: string | Buffer): Blob {
  const hash = sha256(content);
  writeFileSync(join(blobs, hash), content);
  return { digest: `sha256:${hash}`, size: Buffer.byteLength(content) };
}

/** A layer of what `stage` puts into an empty folder. */
function layerOf(stage: (root: string) => void): Blob & { readonly diff: string } {
  const root = mkdtempSync(join(tmpdir(), 'sluice-image-'));
  try {
    stage(root);
    const plain = [
      '--sort=name',
      '--mtime=@0',
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=go+rX',
    ];
    const tar = `${root}.tar`;
    execFileSync('tar', [...plain, '-cf', tar, '-C', root, '.']);
    const bytes = readFileSync(tar);
    rmSync(tar);
    return { diff: `sha256:${sha256(bytes)}`, ...writeBlob(gzipSync(bytes)) };
  } finally {
    rmSync(root, { recursive: true });
  }
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
