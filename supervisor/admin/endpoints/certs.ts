/** `/certs`: envoy.admin.v3.Certificates with its defaults printed. */
import { daysUntil } from '../../../shared/tls/days-until.ts';
import { timestamp } from '../timestamp.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { CertificateDetails } from '../../tls/certificate-status.ts';
import { JSON_TYPE } from '../http/responses.ts';
import { printJsonAt } from '../json-printer.ts';

const SAN_FIELDS = { dns: 'dns', uri: 'uri', ip: 'ip_address' } as const;

export function answerCerts(context: AdminContext): AdminResponse {
  return { status: 200, contentType: JSON_TYPE, body: certificatesJson(context) };
}

/** Certificates are parsed while the page is made, with a place to pause at behind each. */
function* certificatesJson({ clock, clusters }: AdminContext): Generator<string> {
  const nowMs = clock.wallMs();
  const messages = (list: readonly CertificateDetails[]): JsonObject[] =>
    list.map((details) => detailsMessage(details, nowMs));
  let opening = '{\n "certificates": [\n  ';
  for (const { ca, chain } of clusters.certificates()) {
    yield opening + printJsonAt({ ca_cert: messages(ca), cert_chain: messages(chain) }, 2);
    yield '';
    opening = ',\n  ';
  }
  yield opening.startsWith(',') ? '\n ]\n}\n' : '{\n "certificates": []\n}\n';
}

function detailsMessage(details: CertificateDetails, nowMs: number): JsonObject {
  return {
    path: details.path,
    serial_number: details.serialNumber,
    subject_alt_names: details.subjectAltNames.map(({ kind, value }) => ({
      [SAN_FIELDS[kind]]: value,
    })),
    days_until_expiration: String(daysUntil(details.expiresMs, nowMs)),
    valid_from: timestamp(details.validFromMs),
    expiration_time: timestamp(details.expiresMs),
  };
}
