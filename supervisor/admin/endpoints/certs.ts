/** `/certs`: envoy.admin.v3.Certificates with its defaults printed. */
import { daysUntil } from '../../../shared/tls/days-until.ts';
import { timestamp } from '../timestamp.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { CertificateDetails } from '../../tls/certificate-status.ts';
import { jsonResponse } from '../http/responses.ts';

const SAN_FIELDS = { dns: 'dns', uri: 'uri', ip: 'ip_address' } as const;

export function answerCerts(context: AdminContext): AdminResponse {
  const nowMs = context.clock.wallMs();
  return jsonResponse({
    certificates: context.clusters.certificates().map((certificate) => ({
      ca_cert: certificate.ca.map((details) => detailsMessage(details, nowMs)),
      cert_chain: certificate.chain.map((details) => detailsMessage(details, nowMs)),
    })),
  });
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
