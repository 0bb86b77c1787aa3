import { bundledLibraries } from "../auto/bundle.ts";
import { begin } from "../auto/preload.ts";
import { audit } from "../operations/audit/audit.ts";
import { loadedFiles } from "./loaded-files.ts";

/** What the process is told. */
export interface TargetOptions {
  /** Who attaches, for the audit log. */
  readonly who: string;
}

/** A copy of a library that the process has loaded. */
export interface LoadedLibrary {
  readonly library: string;
  /** The path or URL of the file that is watched. */
  readonly path: string;
}

/** What the process answers. */
export interface AttachedApplication {
  /** The path of its socket. */
  readonly socket: string;
  readonly libraries: readonly LoadedLibrary[];
  /** Loaded, but their exports cannot be had. */
  readonly unseen: readonly LoadedLibrary[];
  /** Libraries whose code is a part of the script, which is a bundle: they are not seen. */
  readonly bundled: readonly string[];
}

/** Runs in the process that is attached to: looks at what it has loaded, and begins to look at what it loads. */
export async function attach({ who }: TargetOptions): Promise<AttachedApplication> {
  const application = begin("attached").application();
  const files = loadedFiles();
  for (const { file, path, exports } of files) if (exports !== undefined) application.existing(file, exports, path);
  const { path, options } = await application.opened().catch((error: unknown) => {
    application.detach("restore");
    throw error;
  });
  const log = audit(options.audit ?? true);
  log.attached(who);
  await log.close();
  const seen = (isSeen: boolean) =>
    files
      .filter(({ exports }) => (exports !== undefined) === isSeen)
      .map(({ file, path }) => ({ library: file.library, path }));
  return { socket: path, libraries: seen(true), unseen: seen(false), bundled: bundledLibraries() };
}
