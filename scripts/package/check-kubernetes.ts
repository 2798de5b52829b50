/**
 * Checks the manifests and the Helm chart of docs/kubernetes against the schemas of Kubernetes' own API, in an old
 * and a new version: `helm lint`, and `kubeconform` for the files and for what the chart
 * becomes. Needs helm, kubeconform and python3 with pip; the schemas come from PyPI once, into dist/.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SCHEMAS_PACKAGE = 'kubernetes-validate==1.37.0';
const VERSIONS = ['1.25.0', '1.37.0'];
/** The first that knows containers which start before an app's and end after them. */
const SIDECAR_VERSIONS = ['1.29.0', '1.37.0'];
/** What the chart's values change in the objects. */
const CHART_VALUES: readonly (readonly string[])[] = [
  [],
  ['--set', 'replicas=1,service.type=LoadBalancer,extraArgs={--cpuset-threads}'],
  ['--set', 'tlsSecrets={edge,admin},podAnnotations.team=web,nodeSelector.zone=a'],
];

const projectRoot = join(import.meta.dirname, '..', '..', '..');
const folder = join(projectRoot, 'docs', 'kubernetes');
const chart = join(folder, 'chart');
const problems: string[] = [];

/** The folder of a version's schemas. Their identities go, so that references are paths, which kubeconform can follow. */
function schemas(version: string): string {
  const unpacked = join(projectRoot, 'dist', 'kubernetes-schemas');
  const ready = join(unpacked, version);
  if (existsSync(ready)) return ready;
  mkdirSync(unpacked, { recursive: true });
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', unpacked];
  execFileSync('python3', [...pip, SCHEMAS_PACKAGE], { stdio: 'inherit' });
  const wheel = readdirSync(unpacked).find((name) => name.endsWith('.whl')) ?? '';
  execFileSync('python3', ['-m', 'zipfile', '-e', join(unpacked, wheel), unpacked]);
  const given = join(unpacked, 'kubernetes_validate', 'kubernetes-json-schema');
  const from = join(given, `v${version}-local-strict`);
  mkdirSync(ready);
  for (const name of readdirSync(from)) {
    const text = readFileSync(join(from, name), 'utf8');
    const { $id: _, ...schema } = JSON.parse(text) as Record<string, unknown>;
    const here = JSON.stringify(schema).replaceAll('"/api/_definitions.json', '"_definitions.json');
    writeFileSync(join(ready, name), here);
  }
  return ready;
}

/** Objects as text, or files, checked strictly: a field that the API does not have is an error. */
function conform(version: string, what: string, files: readonly string[], input?: string): void {
  const location = join(schemas(version), '{{.ResourceKind}}{{.KindSuffix}}.json');
  const words = ['-strict', '-summary', '-kubernetes-version', version, '-schema-location'];
  run(`${what}, Kubernetes ${version}`, 'kubeconform', [...words, location, ...files], input);
}

/** What a program of others prints is shown when it finds something. */
function run(what: string, program: string, words: readonly string[], input?: string): string {
  try {
    const text = execFileSync(program, words, { input, encoding: 'utf8' });
    console.log(`${what}: ${program}: ${text.trim().split('\n').at(-1) ?? ''}`);
    return text;
  } catch (error) {
    const { code, stdout } = error as { code?: string; stdout?: string };
    if (code === 'ENOENT') problems.push(`${program} is not on PATH`);
    else problems.push(`${what}: ${program} found something\n${stdout ?? ''}`);
    return '';
  }
}

for (const version of VERSIONS) conform(version, 'gateway', [join(folder, 'gateway.yaml')]);
for (const version of SIDECAR_VERSIONS) {
  conform(version, 'sidecar', [join(folder, 'sidecar.yaml')]);
}
for (const values of CHART_VALUES) {
  const what = `chart ${values.at(-1) ?? 'as it is'}`;
  run(what, 'helm', ['lint', '--strict', chart, ...values]);
  const text = execFileSync('helm', ['template', 'edge', chart, ...values], { encoding: 'utf8' });
  for (const version of VERSIONS) conform(version, what, [], text);
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
