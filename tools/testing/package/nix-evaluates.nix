# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The packages of packaging/nix with as much of nixpkgs as they ask for: what a linter
# sees that has no NixOS (tools/testing/package/lint).
let
  lib = {
    concatMapStringsSep = s: f: l: builtins.concatStringsSep s (map f l);
    cleanSource = p: toString p;
    licenses.gpl2Only = "GPL-2.0-only";
    platforms.linux = [ "x86_64-linux" ];
  };
  packages = import ../../../packaging/nix {
    inherit lib;
    stdenv.mkDerivation = attributes: attributes;
    kernel = { moduleBuildDependencies = [ ]; dev = "/dev-of-kernel"; modDirVersion = "6.1.0"; };
    libmnl = "libmnl";
  };
in
{
  names = map (p: "${p.pname} ${p.version} ${p.buildPhase} ${p.installPhase}")
    (builtins.attrValues packages);
}
