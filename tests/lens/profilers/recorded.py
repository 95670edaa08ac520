"""Output of the vendors' tools, re-created by hand from what they publish; the source stands beside each text.

Numbers and shapes are those of the samples; lines that matter to no test were left out.
"""

# ruff: noqa: E501 (lines are as the tools print them)
from __future__ import annotations

# ROCm documentation, "Using rocprofv3", kernel counter collection.
ROCPROFV3_COUNTERS = """\
"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name",\
"Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name",\
"Counter_Value","Start_Timestamp","End_Timestamp"
1,1,"Agent 4",1,225049,225049,1048576,10,"void addition_kernel<float>(float*, float const*, float const*, int, int)",\
64,0,0,8,0,16,"SQ_WAVES",16384.000000,317095766765717,317095766775957
2,2,"Agent 4",1,225049,225049,1048576,12,"divide_kernel(float*, float const*, float const*, int, int)",\
64,0,0,12,4,16,"SQ_WAVES",16384.000000,317095767013157,317095767022957
2,2,"Agent 4",1,225049,225049,1048576,12,"divide_kernel(float*, float const*, float const*, int, int)",\
64,0,0,12,4,16,"FETCH_SIZE",8192.500000,317095767013157,317095767022957
2,2,"Agent 4",1,225049,225049,1048576,12,"divide_kernel(float*, float const*, float const*, int, int)",\
64,0,0,12,4,16,"WRITE_SIZE",4096.000000,317095767013157,317095767022957
"""
# The same page, kernel trace with --agent-index=relative.
ROCPROFV3_TRACE = """\
"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",\
"Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",\
"Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH","Agent 7",17,26,847809,101,49,\
"void addition_kernel<float>(float*, float const*, float const*, int, int)",101,1551401624448706,1551401624459226,\
0,0,8,0,16,64,1,1,1024,1024,1
"""
# AMD's HPC training notes on rocprof, mini-nbody: head of results.csv.
ROCPROF_OLD = """\
"Index","KernelName","gpu-id","queue-id","queue-index","pid","tid","grd","wgr","lds","scr","arch_vgpr","accum_vgpr",\
"sgpr","wave_size","sig","obj","DispatchNs","BeginNs","EndNs","CompleteNs","DurationNs","FETCH_SIZE","WRITE_SIZE"
0,"bodyForce(Body*, float, int) [clone .kd]",0,0,0,3670615,3670615,65536,256,0,0,20,4,16,64,"0x0","0x7f7b27c04500",\
1591372809346673,1591372809872935,1591372836189584,1591372836215944,26316649,784.25,768.0
"""
# Nsight Systems documentation, "cuda_gpu_trace", columns; progress lines as nsys stats prints them.
NSYS_TRACE = """\
Generating SQLite file report1.sqlite from report1.nsys-rep
Processing [report1.sqlite] with [reports/cuda_gpu_trace.py]...
Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),\
Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name
1719000000,41280,1201,512,1,1,256,1,1,104,0.048,0.033,,,,,NVIDIA A100-SXM4-40GB (0),1,,7,"void burn<float>(float *, int)"
1719050000,43520,1204,512,1,1,256,1,1,104,0.048,0.033,,,,,NVIDIA A100-SXM4-40GB (0),1,,7,"void burn<float>(float *, int)"
1719100000,3200,1209,108,1,1,128,1,1,56,0.000,0.064,,,,,NVIDIA A100-SXM4-40GB (0),1,,7,other
1719200000,1200,1211,,,,,,,,,,4.194,3355.443,Pageable,Device,NVIDIA A100-SXM4-40GB (0),1,,7,[CUDA memcpy Host-to-Device]
"""
# Output of nvprof 10 that its users published (a Tesla K20c), --metrics --csv.
NVPROF_METRICS = """\
==21602== NVPROF is profiling process 21602, command: ./test-stream-y
==21602== Warning: Some kernel(s) will be replayed on device 0 in order to collect all events/metrics.
==21602== Profiling application: ./test-stream-y
==21602== Profiling result:
==21602== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Tesla K20c (0)","stream(float*, int, int)",3,"inst_executed","Instructions Executed",1346634,1346640,1346637
"Tesla K20c (0)","stream(float*, int, int)",3,"gld_transactions","Global Load Transactions",0,0,0
"Tesla K20c (0)","stream(float*, int, int)",3,"gst_transactions","Global Store Transactions",9039820,9039820,9039820
"Tesla K20c (0)","stream(float*, int, int)",3,"gst_efficiency","Global Memory Store Efficiency",87.50%,87.50%,87.50%
"Tesla K20c (0)","stream(float*, int, int)",3,"warp_execution_efficiency","Warp Execution Efficiency",50.00%,50.00%,50.00%
"Tesla K20c (0)","stream(float*, int, int)",3,"l2_utilization","L2 Cache Utilization",Mid (5),Mid (5),Mid (5)
"""
# The same, --print-gpu-trace --csv (a GeForce RTX 2080 Ti).
NVPROF_TRACE = """\
======== Profiling result:
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers Per Thread","Static SMem",\
"Dynamic SMem","Size","Throughput","SrcMemType","DstMemType","Device","Context","Stream","Name","Correlation_ID"
us,us,,,,,,,,KB,KB,KB,GB/s,,,,,,,
0.000000,1.888000,,,,,,,,,,1.003906,0.507097,"Device",,"GeForce RTX 2080 Ti (0)","1","7","[CUDA memset]",272
4643.346000,12.536000,64,2,1,128,1,1,24,0.000000,0.000000,,,,,"GeForce RTX 2080 Ti (0)","1","22","axpy(float*, int) [316]",316
4680.346000,12.036000,64,2,1,128,1,1,24,0.000000,0.000000,,,,,"GeForce RTX 2080 Ti (0)","1","22","axpy(float*, int) [320]",320
"""
# Nsight Compute's message, as NVIDIA's own documentation prints it.
NO_PERMISSION = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the "
    "target device 0. For instructions on enabling permissions and to get more information see "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM"
)
# Nsight Compute CLI manual: the form of `--csv --page raw --print-units base`, with our numbers; the comma is the thousands sign of an English locale.
NCU_RAW = """\
==PROF== Connected to process 4711 (/tmp/app)
==PROF== Profiling "axpy" - 0: 0%....50%....100% - 3 passes
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",\
"gpu__time_duration.sum","dram__bytes.sum","smsp__inst_executed.sum","launch__registers_per_thread"
"","","","","","","","","","","","ns","byte","inst","register/thread"
"0","4711","app","127.0.0.1","axpy(float *, int)","1","7","(256, 1, 1)","(64, 1, 1)","0","8.0","12,345.60",\
"1,048,576","40,960","16"
"""
# Compute Sanitizer manual: memcheck demo, misaligned access, racecheck, initcheck, synccheck examples.
MEMCHECK = """\
========= COMPUTE-SANITIZER
Mallocing memory
========= Invalid __global__ write of size 4 bytes
=========     at unaligned_kernel()+0x160 in memcheck_demo.cu:6
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7f6510c00001 is misaligned
=========     and is inside the nearest allocation at 0x7f6510c00000 of size 4 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: [0x2774ec] in libcuda.so.1
=========
========= Invalid __global__ write of size 4 bytes
=========     at out_of_bounds_function()+0x20 in memcheck_demo.cu:10
=========     by thread (3,0,0) in block (2,0,0)
=========     Address 0x87654320 is out of bounds
=========     and is 8,160,312,113,440 bytes before the nearest allocation at 0x7f6510c00000 of size 4 bytes
=========         Device Frame: out_of_bounds_kernel()+0x30 in memcheck_demo.cu:16
=========     Saved host backtrace up to driver entry point at kernel launch time
=========
========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to cudaDeviceSynchronize.
=========     Saved host backtrace up to driver entry point at error
=========
========= ERROR SUMMARY: 3 errors
"""
RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at sumKernel(int *, int *)+0x90 in block_error.cu:40
=========     and Read access at sumKernel(int *, int *)+0x220 in block_error.cu:48 [508 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
INITCHECK = """\
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at vectorAdd(int *)+0x70 in /home/cuda/Initcheck/memset_error.cu:41
=========     by thread (31,0,0) in block (1,0,0)
=========     Address 0x7f3c7ec000fc
=========
========= Uninitialized __global__ memory read of size 4 bytes
=========     at vectorAdd(int *)+0x70 in /home/cuda/Initcheck/memset_error.cu:41
=========     by thread (30,0,0) in block (1,0,0)
=========     Address 0x7f3c7ec000f8
=========
========= ERROR SUMMARY: 48 errors
========= ERROR SUMMARY: 46 errors were not printed. Use --print-limit option to adjust the number of printed errors
"""
SYNCCHECK = """\
========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block.
=========     at divergentBarrier(int *)+0xa0 in divergent_threads.cu:61
=========     by thread (19,0,0) in block (0,0,0)
=========
========= Barrier error detected. Invalid arguments.
=========     at __syncwarp(unsigned int)+0xe0 in sm_30_intrinsics.hpp:110
=========     by thread (0,0,0) in block (0,0,0)
=========         Device Frame: myKernel(int *)+0xb0 in illegal_syncwarp.cu:12
=========
========= ERROR SUMMARY: 2 errors
"""
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
