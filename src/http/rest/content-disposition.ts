import { decodeSegment } from "./request-target.ts";

/** Extensions of files that no browser runs: text, data, pictures, sound, video, and XML languages. */
const SAFE_EXTENSIONS: ReadonlySet<string> = new Set(
  [
    "txt text yml properties csv json xml atom rss",
    "png jpe jpeg jpg gif wbmp bmp svg svgz webp avif ico tif tiff psd djv djvu dwg dxf pbm pcx pgm pic pct pnm ppm",
    "ras rgb sgi tga xbm xpm xwd cgm ief ktx btif jxr wdp fbs fpx fst mmr rlc mdi npx xif 3ds cmx fh sid",
    "aac adp aif aifc aiff au caf flac kar m2a m3a m3u m4a mid midi mka mp2 mp2a mp3 mp4a mpga oga ogg opus ra ram rmi",
    "rmp s3m sil snd spx wav wax weba wma xm dra dts dtshd lvp pya rip",
    "3g2 3gp asf asx avi f4v fli flv fvt h261 h263 h264 jpgm jpgv jpm m1v m2v m4u m4v mj2 mjp2 mk3d mks mkv mng mov movie",
    "mp4 mp4v mpe mpeg mpg mpg4 mxu ogv pyv qt smv viv vob webm wm wmv wmx wvx dvb",
    "xhtml xht xslt mathml rdf smi smil gpx kml gml wsdl wspolicy xop xspf xul vxml ssml srx sru sbml rsd pls dae x3d",
    "atomcat atomsvc ccxml davmount dbk emma grxml hal inkml jnlp lostxml mads meta4 metalink mets mods mrcx musicxml",
    "mxml ncx omdoc opf owl pskcxml rld rs shf ssdl tei teicorpus tfi ttml uoml xaml xdm xenc xer xhvml xpl xsm xvm xvml yin zmm",
  ].flatMap((line) => line.split(" ")),
);

const INLINE = { "Content-Disposition": "inline;filename=f.txt" };

/**
 * Returns the header that keeps a browser from saving the answer under the logger's name as a file to run. Undefined unless the last
 * segment of the path, or its `;matrix` part, has an extension that is not known to be safe.
 */
export function contentDisposition(segment: string): Readonly<Record<string, string>> | undefined {
  if (!segment.includes(".") && !segment.includes("%")) return undefined;
  const matrix = segment.indexOf(";");
  const parts = matrix < 0 ? [segment] : [segment.slice(0, matrix), segment.slice(matrix + 1)];
  return parts.every((part) => isSafe(decodeSegment(part))) ? undefined : INLINE;
}

function isSafe(name: string): boolean {
  const dot = name.lastIndexOf(".");
  if (dot < 0) return true;
  const extension = name.slice(dot + 1).toLowerCase();
  return extension === "" || SAFE_EXTENSIONS.has(extension);
}
