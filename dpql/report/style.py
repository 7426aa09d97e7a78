"""How a review sheet looks: one style sheet, printable, without any outside resource."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
.dpql{font:16px/1.5 Georgia,'Times New Roman',serif;color:#1c1c1c;background:#fff;max-width:46rem;
margin:0 auto;padding:1.5rem}
.dpql h1{font-size:1.7rem;line-height:1.2;margin:.2rem 0 1rem}
.dpql h2{font-size:1.2rem;margin:2.2rem 0 .6rem;padding-top:.6rem;border-top:1px solid #b8b8b8}
.dpql h3{font-size:1rem;margin:1.2rem 0 .3rem}
.dpql .over{font:600 .8rem/1.4 system-ui,sans-serif;letter-spacing:.06em;text-transform:uppercase;
color:#555;margin:0}
.dpql .verdict{font-size:1.2rem;border-left:.35rem solid #1d4f7c;background:#eef3f8;
padding:.8rem 1rem;margin:0 0 1rem}
.dpql .cautions{border-left:.35rem solid #8a5a00;background:#fdf6e7;padding:.6rem 1rem;margin:0}
.dpql .cautions h2{font-size:1rem;margin:0;padding:0;border:0}
.dpql ul{margin:.4rem 0 .8rem;padding-left:1.3rem}
.dpql li{margin:.2rem 0}
.dpql table{border-collapse:collapse;width:100%;margin:.8rem 0;font-size:.92rem}
.dpql caption{text-align:left;font-weight:bold;padding-bottom:.3rem}
.dpql th,.dpql td{text-align:left;vertical-align:top;padding:.35rem .6rem .35rem 0;
border-bottom:1px solid #ccc}
.dpql td.number{text-align:right;font-variant-numeric:tabular-nums}
.dpql thead th{border-bottom:2px solid #555}
.dpql dl{display:grid;grid-template-columns:minmax(10rem,2fr) 3fr;gap:.3rem 1rem;margin:.5rem 0}
.dpql dt{color:#444}
.dpql dd{margin:0;overflow-wrap:anywhere}
.dpql .meter{margin:.8rem 0}
.dpql .meter p{margin:0}
.dpql .bar{height:.7rem;border:1px solid #444;background:#fff;margin:.25rem 0}
.dpql .bar span{display:block;height:100%;background:#1d4f7c}
.dpql .ends{display:flex;justify-content:space-between;font-size:.8rem;color:#444}
.dpql figure{margin:1rem 0}
.dpql figure img{max-width:100%;height:auto}
.dpql .curves svg{width:48.5%;min-width:17rem;height:auto;font-family:system-ui,sans-serif}
.dpql figcaption{font-size:.88rem;color:#444;margin-top:.3rem}
.dpql code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.88em;overflow-wrap:anywhere}
.dpql pre{font:.85rem/1.4 ui-monospace,Menlo,Consolas,monospace;background:#f4f4f4;padding:.6rem;
overflow-x:auto;white-space:pre}
.dpql mark{background:#fbe0dd;color:inherit;border-bottom:2px solid #a02015}
.dpql .mock{border:2px solid #a02015;color:#a02015;padding:.4rem .8rem;font-weight:bold}
.dpql footer{margin-top:2rem;padding-top:.6rem;border-top:1px solid #b8b8b8;font-size:.85rem;
color:#444;overflow-wrap:anywhere}
@media print{.dpql{max-width:none;padding:0;font-size:11pt}.dpql section{break-inside:auto}
.dpql h2,.dpql h3,.dpql caption{break-after:avoid}.dpql tr,.dpql .meter,.dpql li,
.dpql figure{break-inside:avoid}
.dpql .bar span{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
@media (max-width:36rem){.dpql dl{display:block}.dpql dd{margin:0 0 .5rem}}
""".strip()
