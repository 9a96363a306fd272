"""Other simulators' own files, as drive files and job files of ours.

`reading`
    Values that are taken by name; what is left over is named.
`mqsim_device`, `mqsim_workload`
    The two XML files of MQSim.
`disksim`
    The parameter file of DiskSim with the SSD extension.
`importing`
    Which of them a file is, told by its content.
"""

from ssdscope.targets.imports.importing import Imported, import_file

__all__ = ["Imported", "import_file"]
