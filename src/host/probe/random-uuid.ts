/** A random (version 4) UUID, as its 16 bytes. */
export function randomUuid(randomBytes: (size: number) => Buffer): Buffer {
  const uuid = Buffer.from(randomBytes(16));
  uuid.writeUInt8((uuid.readUInt8(6) & 0x0f) | 0x40, 6);
  uuid.writeUInt8((uuid.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuid;
}
