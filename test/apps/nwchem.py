# SPDX-License-Identifier: BSD-3-Clause
"""NWChem: the energy of a water molecule, over Global Arrays, which use windows and passive targets."""
import os

from recipe import Case, says

PACKAGES = ["nwchem-mpich", "nwchem-data"]

WATER = """start water
geometry units angstroms
 O  0.00000  0.00000  0.11779
 H  0.00000  0.75545 -0.47116
 H  0.00000 -0.75545 -0.47116
end
basis
 * library 6-31g
end
%s
"""
TASKS = {"scf": "task scf gradient", "dft": "dft\n xc b3lyp\nend\ntask dft energy", "mp2": "task mp2 energy"}


def build(place):
    for name, task in TASKS.items():
        with open(os.path.join(place.folder, name + ".nw"), "w") as f:
            f.write(WATER % task)


def cases(place):
    # Without the variable the package does not converge natively either: its README.Debian asks for it.
    environment = {"ARMCI_USE_WIN_ALLOCATE": "0", "NWCHEM_BASIS_LIBRARY": place.find("usr/share/nwchem/libraries/6-31g")[:-len("6-31g")]}
    program = place.find("usr/bin/nwchem.mpich")
    return [Case("water-%s-%d" % (name, ranks), [program, name + ".nw"], ranks, 60, says(r"Total times  cpu", never=["[Ee]rror"]),
                 r"Total [A-Z0-9]+ energy *=? +(-\d+\.\d{8})", (os.path.join(place.folder, name + ".nw"),), environment)
            for name in TASKS for ranks in (2, 4)]
