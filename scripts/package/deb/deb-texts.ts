/** The texts that a Debian package is described by. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const MAINTAINER = 'Sluice maintainers <maintainers@sluice.example>';

interface Facts {
  readonly version: string;
  readonly architecture: string;
  readonly bytes: number;
}

export function controlText({ version, architecture, bytes }: Facts): string {
  return [
    'Package: sluice',
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${MAINTAINER}`,
    `Installed-Size: ${Math.ceil(bytes / 1024)}`,
    'Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 9), init-system-helpers (>= 1.54), systemd-standalone-sysusers | systemd-sysusers | systemd',
    'Recommends: ca-certificates',
    'Section: httpd',
    'Priority: optional',
    'Description: L7 proxy that starts from an Envoy bootstrap',
    ' Sluice is an HTTP, gRPC, TCP and UDP proxy. It starts from an Envoy v3',
    " bootstrap, takes Envoy's command line, answers its administration interface,",
    ' and takes over from a running Envoy by its hot restart protocol.',
    ' .',
    ' The package has a Node.js runtime of its own. A reload of the service is a hot',
    ' restart, and so is an upgrade of the package.',
    '',
  ].join('\n');
}

export function changelogText(version: string): string {
  return [
    `sluice (${version}) unstable; urgency=medium`,
    '',
    '  * See NEWS.gz beside this file.',
    '',
    ` -- ${MAINTAINER}  Thu, 01 Jan 2026 00:00:00 +0000`,
    '',
  ].join('\n');
}

/** The licences of Sluice, of the runtime, and of what is packed into it. */
export function copyrightText(nodeLicence: string): string {
  return [
    'Sluice',
    '======',
    '',
    'Copyright: the Sluice authors. Licensed under the Apache License, Version 2.0; on Debian systems its text',
    'is in /usr/share/common-licenses/Apache-2.0.',
    '',
    'The API definitions and the packages that are packed into it are the work of others: NOTICES.gz beside this',
    'file has their names and licences.',
    '',
    'Node.js (/usr/lib/sluice/node)',
    '==============================',
    '',
    nodeLicence.trim(),
    '',
  ].join('\n');
}

/** A line for each file, as dpkg checks them. */
export function md5sums(root: string, files: readonly string[]): string {
  return files
    .map((path) => {
      const sum = createHash('md5')
        .update(readFileSync(join(root, path)))
        .digest('hex');
      return `${sum}  ${path}\n`;
    })
    .join('');
}
