/**
 * Writes the API model as one descriptor per package, in the shape of shared/api/descriptor, all in
 * one file.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { MessageDescriptor, PackageDescriptor } from '../../shared/api/descriptor.ts';
import { FIELD_COMMENTS, archiveOf } from '../../shared/api/package-archive.ts';
import { type ApiModel, type MessageModel, enumDescriptor } from './api-model.ts';

type MutablePackage = {
  package: string;
  messages: Record<string, MessageDescriptor>;
  enums: Record<string, PackageDescriptor['enums'][string]>;
  services: Record<string, PackageDescriptor['services'][string]>;
};

export function writeDescriptor(model: ApiModel, path: string, comments: Buffer): void {
  const texts = describePackages(model).map(
    (descriptor) => [descriptor.package, JSON.stringify(descriptor)] as const,
  );
  mkdirSync(dirname(path), { recursive: true });
  const all = new Map<string, string | Buffer>([...texts, [FIELD_COMMENTS, comments]]);
  writeFileSync(path, archiveOf(all));
}

function describePackages(model: ApiModel): PackageDescriptor[] {
  const packages = new Map<string, MutablePackage>();
  const packageOf = (name: string): MutablePackage => {
    const known = packages.get(name) ?? { package: name, messages: {}, enums: {}, services: {} };
    packages.set(name, known);
    return known;
  };
  for (const message of model.messages.values()) {
    packageOf(message.packageName).messages[message.name] = describeMessage(message);
  }
  for (const type of model.enums.values()) {
    packageOf(type.packageName).enums[type.name] = enumDescriptor(type);
  }
  for (const service of model.services.values()) {
    packageOf(service.packageName).services[service.name] = service.methods;
  }
  return [...packages.values()];
}

function describeMessage(message: MessageModel): MessageDescriptor {
  const { name: _name, packageName: _package, oneofs, ...rest } = message;
  return { ...rest, ...(oneofs.length > 0 ? { oneofs } : {}) };
}
