import { randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const SECTOR = 512;
const RESERVED_SECTORS = 32;
const FAT_COPIES = 2;
const ROOT_CLUSTER = 2;
const BACKUP_BOOT_SECTOR = 6;
const MEDIA_FIXED_DISK = 0xf8;
/** A FAT32 of fewer clusters would be taken for a FAT16. */
const FEWEST_CLUSTERS = 65_525;
const MOST_CLUSTERS = 0x0fff_fff5;
const MOST_SECTORS_PER_CLUSTER = 128;

/**
 * Makes an empty FAT32 as in Microsoft's "FAT File System Specification" 1.03: boot sector and FSInfo with their backups,
 * the first entries of both FATs. The root folder is one cluster of zeros, which a sparse file has already.
 * @param size of the file in bytes, at least 64 MiB
 */
export async function writeVfat(file: FileHandle, size: bigint): Promise<void> {
  const whole = size / BigInt(SECTOR);
  // It counts its sectors in 32 bits, and leaves the rest of a larger device unused.
  const sectors = Number(whole > 0xffff_ffffn ? 0xffff_ffffn : whole);
  const shape = shapeOf(sectors);
  const boot = bootSector(sectors, shape);
  const info = infoSector(shape.clusters);
  await writeSector(file, 0, boot);
  await writeSector(file, 1, info);
  await writeSector(file, BACKUP_BOOT_SECTOR, boot);
  await writeSector(file, BACKUP_BOOT_SECTOR + 1, info);
  for (let copy = 0; copy < FAT_COPIES; copy++)
    await writeSector(file, RESERVED_SECTORS + copy * shape.fatSectors, firstFatSector());
}

interface Shape {
  sectorsPerCluster: number;
  fatSectors: number;
  clusters: number;
}

/** Clusters of 4 KiB; larger ones where 28 bits cannot number them, smaller ones where there would be too few. */
function shapeOf(sectors: number): Shape {
  let sectorsPerCluster = 8;
  while (sectorsPerCluster < MOST_SECTORS_PER_CLUSTER && sectors / sectorsPerCluster > MOST_CLUSTERS)
    sectorsPerCluster *= 2;
  while (sectorsPerCluster > 1 && shapeWith(sectors, sectorsPerCluster).clusters < FEWEST_CLUSTERS)
    sectorsPerCluster /= 2;
  return shapeWith(sectors, sectorsPerCluster);
}

function shapeWith(sectors: number, sectorsPerCluster: number): Shape {
  const data = sectors - RESERVED_SECTORS;
  // One sector of a FAT numbers 128 clusters; two clusters more, because they are numbered from 2.
  const fatSectors = Math.ceil((data / sectorsPerCluster + 2) / 128);
  return {
    sectorsPerCluster,
    fatSectors,
    clusters: Math.floor((data - FAT_COPIES * fatSectors) / sectorsPerCluster),
  };
}

function bootSector(sectors: number, { sectorsPerCluster, fatSectors }: Shape): Buffer {
  const sector = Buffer.alloc(SECTOR);
  sector.set([0xeb, 0x58, 0x90], 0);
  sector.write('fake-csi', 3, 'latin1');
  sector.writeUInt16LE(SECTOR, 11);
  sector.writeUInt8(sectorsPerCluster, 13);
  sector.writeUInt16LE(RESERVED_SECTORS, 14);
  sector.writeUInt8(FAT_COPIES, 16);
  sector.writeUInt8(MEDIA_FIXED_DISK, 21);
  // Geometry that no disk has had for decades, and every FAT still states.
  sector.writeUInt16LE(63, 24);
  sector.writeUInt16LE(255, 26);
  sector.writeUInt32LE(sectors, 32);
  sector.writeUInt32LE(fatSectors, 36);
  sector.writeUInt32LE(ROOT_CLUSTER, 44);
  sector.writeUInt16LE(1, 48);
  sector.writeUInt16LE(BACKUP_BOOT_SECTOR, 50);
  sector.writeUInt8(0x80, 64);
  sector.writeUInt8(0x29, 66);
  randomBytes(4).copy(sector, 67);
  sector.write('NO NAME    FAT32   ', 71, 'latin1');
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

function infoSector(clusters: number): Buffer {
  const sector = Buffer.alloc(SECTOR);
  sector.write('RRaA', 0, 'latin1');
  sector.write('rrAa', 484, 'latin1');
  sector.writeUInt32LE(clusters - 1, 488);
  sector.writeUInt32LE(ROOT_CLUSTER, 492);
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

/** Entry 0 repeats the media byte, entry 1 says that the filesystem is clean, entry 2 that the root folder ends there. */
function firstFatSector(): Buffer {
  const sector = Buffer.alloc(SECTOR);
  sector.writeUInt32LE(0x0fff_ff00 | MEDIA_FIXED_DISK, 0);
  sector.writeUInt32LE(0x0fff_ffff, 4);
  sector.writeUInt32LE(0x0fff_ffff, 8);
  return sector;
}

async function writeSector(file: FileHandle, number: number, sector: Buffer): Promise<void> {
  await file.write(sector, 0, SECTOR, number * SECTOR);
}
