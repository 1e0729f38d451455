// Makes zips for tests: honest ones of files, and ones whose headers say whatever a test wants.
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  path: string;
  content: string | Uint8Array;
  /** What the headers claim; by default the truth. */
  declaredSize?: number;
  /** The file's mode on Unix, such as that of a link. */
  mode?: number;
}

/** A zip of these files, packed in this order. */
export const zipOf = (files: Readonly<Record<string, string | Uint8Array>>): Uint8Array<ArrayBuffer> =>
  zipEntries(Object.entries(files).map(([path, content]) => ({ path, content })));

/** A zip of these entries; nothing about them is checked. */
export function zipEntries(entries: readonly ZipEntry[]): Uint8Array<ArrayBuffer> {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { path, content, declaredSize, mode = 0o100644 } of entries) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const name = Buffer.from(path);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    // Names are UTF-8.
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(declaredSize ?? bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, name, packed]);
    const end = Buffer.alloc(14);
    end.writeUInt32LE((mode << 16) >>> 0, 6);
    end.writeUInt32LE(offset, 10);
    centrals.push(Buffer.concat([Buffer.from("PK\x01\x02"), Buffer.from([20, 3]), common, end, name]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(entries.length & 0xffff, 8);
  end.writeUInt16LE(entries.length & 0xffff, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return new Uint8Array(Buffer.concat([...locals, directory, end]));
}

/** A SKILL.md with these fields. */
export const skillMd = (name: string, description = `Does ${name}`, body = `How to do ${name}.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;
